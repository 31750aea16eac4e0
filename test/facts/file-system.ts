/** A file system as simple as one can be, with the kernel's rules of resolving names. The trees are measured by it. */
export type ModelNode =
  | { readonly file: true }
  | { readonly dir: Record<string, ModelNode> }
  | { readonly link: string }

export interface Model {
  kind(path: string, follow: boolean): 'absent' | 'file' | 'directory' | 'symlink'
  /** Of what is there. */
  real(path: string, follow: boolean): string
  list(path: string): string[]
  put(path: string, node: ModelNode | null): void
}

type Directory = Extract<ModelNode, { dir: unknown }>

export const modelOf = (): Model => {
  const root: Directory = { dir: {} }

  /** The directories on the way and the last name; null where the kernel would say ENOENT, ENOTDIR or ELOOP. */
  const walk = (
    path: string,
    follow: boolean,
  ): { way: readonly [name: string, node: ModelNode][]; missing?: string } | null => {
    let way: [string, ModelNode][] = []
    let links = 0
    const at = (): ModelNode => way.at(-1)?.[1] ?? root
    const todo = path.split('/')
    while (todo.length > 0) {
      const name = todo.shift() as string
      const here = at()
      if (!('dir' in here)) return null
      if (name === '' || name === '.') continue
      if (name === '..') {
        way = way.slice(0, -1)
        continue
      }
      const node = here.dir[name]
      if (node === undefined) return todo.every((rest) => rest === '') ? { way, missing: name } : null
      if ('link' in node && (follow || todo.length > 0)) {
        links += 1
        if (links > 40) return null
        if (node.link.startsWith('/')) way = []
        todo.unshift(...node.link.split('/'))
        continue
      }
      way.push([name, node])
    }
    return { way }
  }
  const find = (path: string, follow: boolean): ModelNode | null => {
    const walked = walk(path, follow)
    return walked === null || walked.missing !== undefined ? null : (walked.way.at(-1)?.[1] ?? root)
  }
  return {
    kind: (path, follow) => {
      const node = find(path, follow)
      return node === null ? 'absent' : 'file' in node ? 'file' : 'dir' in node ? 'directory' : 'symlink'
    },
    real: (path, follow) =>
      `/${
        walk(path, follow)
          ?.way.map(([name]) => name)
          .join('/') ?? ''
      }`,
    list: (path) => Object.keys((find(path, true) as Directory).dir).sort(),
    put: (path, node) => {
      const cut = path.lastIndexOf('/')
      const parent = find(path.slice(0, cut) || '/', true) as Directory
      if (node === null) delete parent.dir[path.slice(cut + 1)]
      else parent.dir[path.slice(cut + 1)] = 'dir' in node ? { dir: {} } : node
    },
  }
}
