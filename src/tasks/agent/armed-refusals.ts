import type { ErrorDetails } from '../../errors.ts'

/** What cannot be seen must not pass for what is not there. */
export const rollbackUnseen: ErrorDetails = {
  code: 'precondition-unmet',
  message: 'Only root can see whether a rollback is armed on the host.',
  remedy: 'Log in as root, or use -b (become: true in the inventory).',
}

export const rollbackUnreadable: ErrorDetails = {
  code: 'precondition-unmet',
  message: 'A rollback is armed on the host, and whose it is cannot be read.',
  remedy:
    'See /var/lib/drover on the host. touch /var/lib/drover/armed/now and then systemctl start drover-rollback.service there fire it; it fires by itself when its time has come, and at a boot.',
}
