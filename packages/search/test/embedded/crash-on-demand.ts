import { isMainThread } from 'node:worker_threads'

/** Preloaded into a process and its threads: whoever posts to this channel makes every thread but the main one throw. */
export const CRASH_CHANNEL = 'crash-on-demand'

if (!isMainThread) {
  const channel = new BroadcastChannel(CRASH_CHANNEL)
  channel.onmessage = () => {
    throw new Error('crash on demand')
  }
}
