interface Named {
  readonly task: string
  readonly name?: string | undefined
}

/** Given names stay; the others are the task's name, numbered where that is taken. */
export const stepNames = (steps: readonly Named[]): string[] => {
  const taken = new Set(steps.flatMap(({ name }) => name ?? []))
  return steps.map(({ task, name }) => {
    if (name !== undefined) return name
    let free = task
    for (let count = 2; taken.has(free); count++) free = `${task} (${count})`
    taken.add(free)
    return free
  })
}
