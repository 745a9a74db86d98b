/** Tells this browser's other tabs which conversation has changed, so that they show it. */
const channel = new BroadcastChannel('agent-server.conversations')

export const tellTabs = (conversation: string): void => channel.postMessage(conversation)

/** Calls back for each conversation that another tab has changed, and with none when this tab is looked at again. */
export function watchTabs(onChange: (conversation?: string) => void): () => void {
  const told = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string') onChange(data)
  }
  const looked = () => {
    if (document.visibilityState === 'visible') onChange()
  }
  channel.addEventListener('message', told)
  document.addEventListener('visibilitychange', looked)
  return () => {
    channel.removeEventListener('message', told)
    document.removeEventListener('visibilitychange', looked)
  }
}
