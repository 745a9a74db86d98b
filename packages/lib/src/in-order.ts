import { ignore } from './ignore.ts'

/** Runs jobs one after another, whether or not those before succeeded. */
export function createOrder() {
  let last: Promise<unknown> = Promise.resolve()
  return <Result>(job: () => Promise<Result> | Result): Promise<Result> => {
    const done = last.then(job)
    last = ignore(done, 'whoever asked for it hears of it')
    return done
  }
}
