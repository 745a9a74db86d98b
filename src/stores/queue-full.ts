import { AppError } from '../errors.ts'

// About what a worker takes to make room for some of those who were refused.
const RETRY_SECONDS = 5

export function queueFull(): AppError {
  return new AppError('queue_full', 'Too many documents wait for ingestion', {
    retryAfter: RETRY_SECONDS,
  })
}
