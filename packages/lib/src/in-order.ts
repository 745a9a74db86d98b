import { ignore } from './ignore.ts'

/** Runs jobs one after another, whether or not those before succeeded. */
export function createOrder() {
  let last: Promise<unknown> = Promise.resolve()
  return <Result>(job: () => Promise<Result> | Result): Promise<Result> => {
    const result = last.then(job)
    last = ignore(result, 'the caller gets the error')
    return result
  }
}
