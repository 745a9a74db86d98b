/** Tells this browser's other tabs which conversation has changed, so that they show it. */
const channel = new BroadcastChannel('agent-server.conversations')

export const tellTabs = (conversation: string): void => channel.postMessage(conversation)

/** Calls back for each conversation changed in another tab, and with none when this tab becomes visible again. */
export function watchTabs(onChange: (conversation?: string) => void): () => void {
  const onMessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string') onChange(data)
  }
  const looked = () => {
    if (document.visibilityState === 'visible') onChange()
  }
  channel.addEventListener('message', onMessage)
  document.addEventListener('visibilitychange', looked)
  return () => {
    channel.removeEventListener('message', onMessage)
    document.removeEventListener('visibilitychange', looked)
  }
}
