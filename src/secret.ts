/** Bytes that are never shown, logged or stored: only their digest may be. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  /** The one way to the value. Its callers are few and easy to list. */
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '[secret]'
  }
  toJSON(): string {
    return '[secret]'
  }
}

/** Where the value of a secret is to be had: what inventories and playbooks hold instead of it. */
export type SecretReference =
  | { readonly env: string }
  | { readonly file: string }
  /** A program and its arguments, run on the workstation without a shell; its standard output is the secret. */
  | { readonly command: readonly string[] }
