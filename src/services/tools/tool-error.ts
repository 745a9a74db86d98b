/** The model's input is invalid; the message tells the model how to correct the call. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError'
}

/** An expected failure of a tool: the model reads `message`, and the cause is logged. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}
