import { entryNames } from './entry-names.ts'
import type { Draft, GroupDraft } from './merge.ts'
import { addToGroup } from './merge.ts'
import { didYouMean, nearNames } from './near.ts'
import type { FaultList, Located } from './positions.ts'
import { faultAt, showPosition } from './positions.ts'

/** Puts listed hosts into their groups; a name that nothing declares is a fault. */
export const joinMembers = (draft: Draft, list: FaultList): void => {
  const nearHost = nearNames([...draft.hosts.keys()])
  const nearGroup = nearNames([...draft.groups.keys()])
  for (const group of draft.groups.values()) {
    if (draft.hosts.has(group.name)) {
      const remedy = 'Rename one of them: in a pattern the name must mean one thing.'
      list.add(faultAt(group.at, `${group.name} is a group and a host.`, remedy))
    }
    for (const member of group.members) joinMember(draft, group, member, nearHost, list)
    for (const [child, at] of group.children) {
      if (draft.groups.has(child) || !draft.complete) continue
      const remedy = didYouMean(nearGroup(child), 'Add it under groups:.')
      list.add(faultAt(at, `Group ${group.name} names the child ${JSON.stringify(child)}, which is no group.`, remedy))
    }
  }
}

const joinMember = (
  draft: Draft,
  group: GroupDraft,
  member: Located<string>,
  near: (text: string) => string | undefined,
  list: FaultList,
): void => {
  for (const name of entryNames(member, list)) {
    const host = draft.hosts.get(name)
    if (host !== undefined) addToGroup(group, host)
    else if (draft.complete) {
      const message = `Group ${group.name} names the host ${name}, which nothing declares.`
      const once = `member ${showPosition(member.at)}`
      list.add(faultAt(member.at, message, didYouMean(near(name), 'Declare it under hosts:.')), once)
    }
  }
}
