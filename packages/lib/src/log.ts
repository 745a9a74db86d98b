/** A log, as the parts of the server see it; each asks for the levels that it uses. Never give it a secret. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
