const unitSeconds: Readonly<Record<string, number>> = {
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  min: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  month: 2_629_800,
  y: 31_557_600,
}

/** A time span as systemd prints it: `5min`, `1min 30s`, `infinity`. */
export const seconds = (span: string): number => {
  if (span === 'infinity') return Number.POSITIVE_INFINITY
  return span.split(' ').reduce((sum, part) => {
    const match = /^([\d.]+)([a-z]+)?$/.exec(part)
    return match === null ? sum : sum + Number(match[1]) * (unitSeconds[match[2] ?? 's'] ?? 1)
  }, 0)
}
