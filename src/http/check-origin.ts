import { AppError } from '../errors.ts'

const THIS_MACHINE = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses pages that nobody named: a browser sends their origin, and a name that an attacker points at this
 * server would otherwise let their page speak to it. Throws `origin_not_allowed`.
 */
export function checkOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return
  if (THIS_MACHINE.includes(URL.parse(origin)?.hostname ?? '')) return
  throw new AppError(
    'origin_not_allowed',
    'Pages of this origin may not call: CORS_ORIGIN does not name it',
  )
}
