const unitS = { s: 1, m: 60, h: 3600 } as const

const mostS = 86_400

/** `90s`, `10m`, `1h30m`, or a plain number of seconds; null for anything else, for nothing, and for more than a day. */
export const durationS = (text: string): number | null => {
  if (!/^(\d{1,6}|(\d{1,6}h)?(\d{1,6}m)?(\d{1,6}s)?)$/.test(text) || text === '') return null
  const seconds = /^\d+$/.test(text)
    ? Number(text)
    : [...text.matchAll(/(\d+)([hms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * unitS[unit as keyof typeof unitS],
        0,
      )
  return seconds > 0 && seconds <= mostS ? seconds : null
}
