import type { CliContext } from './context.ts'

/** Who is responsible, as one word: it goes into leases and logs on the hosts. */
export const operatorOf = ({ env, user, workstation }: Pick<CliContext, 'env' | 'user' | 'workstation'>): string => {
  const given = env.DROVER_OPERATOR || `${env.USER || user}@${workstation}`
  return given.replace(/[^A-Za-z0-9._@-]+/g, '_').slice(0, 100)
}
