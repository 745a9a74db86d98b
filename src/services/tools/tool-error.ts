/** The model's fault: the message lets it mend the call. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError'
}

/** A failure that the tool foresaw; the model reads `message`, and the log has the cause. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}
