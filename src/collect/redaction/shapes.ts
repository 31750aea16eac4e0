import type { Finder } from './span.ts'

/**
 * Secrets that are known by their form alone. Each pattern begins at something fixed or short and is bounded, so that no
 * text makes it slow. What is in the first group stays.
 */
const shapes: readonly RegExp[] = [
  // JSON Web Tokens, whole or cut: base64 of `{"`.
  /()eyJ[\w+/=-]{8,}(?:\.[\w+/=-]*){0,4}/g,
  /(authorization[\\"']{0,8}[ \t]{0,8}[:=][ \t]{0,8}[\\"']{0,8})[^\\"'\s][^"'\r\n]{0,4096}/gi,
  /(bearer(?:[ \t]|%20|\+){1,8})[^\s"',]{4,}/gi,
  // kubeadm's and the agent's bootstrap tokens.
  /()[a-z0-9]{6}(?:\.[a-z0-9]{16,})+/g,
  // Client secrets as Entra ID makes them.
  /()[\w.~-]{0,4}Q~[\w.~-]{20,}/g,
  // What crypt(3) makes of passwords.
  /()\$[0-9a-z]{1,8}\$[./A-Za-z0-9$=,-]{8,}/g,
  // User and password of an URL. What follows a colon and is a port with a path is none.
  /(:\/\/)(?:[^\s"'<>/]{1,256}|[^\s"'<>/@:]{0,128}:(?!\d{1,5}\/)[^\s"'<>@]{1,256})(?=@)/g,
  // Its query and fragment, where signatures stand; and queries without an URL.
  /(:\/\/[^\s"'<>?#]{0,2048}[?#])[^\s"'<>]+/g,
  /([?&])[\w.%-]{1,64}=[^\s"'<>]+/g,
  // The same percent-encoded, once or several times.
  /(%(?:25){0,3}(?:3f|26))[\w.-]{1,64}(?:=|%(?:25){0,3}3d)[^\s"'<>]+/gi,
  /(%(?:25){0,3}3a(?:%(?:25){0,3}2f){2})(?:(?!%(?:25){0,3}(?:2f|40))[^\s"'<>/@]){1,256}(?=@|%(?:25){0,3}40)/gi,
]

export const findShapes: Finder = function* (text) {
  for (const shape of shapes)
    for (const { index, 0: found, 1: kept = '' } of text.matchAll(shape))
      yield [index + kept.length, index + found.length]
}
