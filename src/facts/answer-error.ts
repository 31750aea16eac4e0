/** The answer has not the form that the question calls for: a fault of ours or a damaged stream. */
export class AnswerError extends Error {
  readonly section: string
  constructor(section: string, why: string) {
    super(`section ${section}: ${why}`)
    this.name = 'AnswerError'
    this.section = section
  }
}
