import { isMainThread, Worker } from 'node:worker_threads'

// Loaded into the server's process with `--import`: a fault of the server itself, which a setting brings about. No
// setting is known that does.
if (isMainThread) {
  Worker.prototype.postMessage = new Proxy(Worker.prototype.postMessage, {
    apply(post, worker, given) {
      if (process.env.TOP_K === '7') throw new TypeError('Cannot read properties of undefined')
      return Reflect.apply(post, worker, given)
    },
  })
}
