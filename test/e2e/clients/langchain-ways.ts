import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

type Model = Pick<BaseChatModel, 'invoke' | 'stream'>
type Messages = Parameters<BaseChatModel['invoke']>[0]

export const streamed = async (model: Model, input: Messages) =>
  (await Array.fromAsync(await model.stream(input))).reduce((sum, part) => sum.concat(part))

/** The two ways in which a chat model of LangChain is asked, each to one message. */
export const WAYS = [
  ['invoked', (model: Model, input: Messages) => model.invoke(input)],
  ['streamed', streamed],
] as const
