import { expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { askBy, WAYS } from '../support/every-way.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

it.each(WAYS)(
  'a form is filled from what was found and what was said, asked by %s',
  verifies('forms.filled', 'forms.sources'),
  async (way) => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Card', text: 'Ada Lovelace lives in London.' })
    const documentId = await server.ingest({
      title: 'Zebra form',
      text: 'Name: {{name}}\nCity: {{city}}\nPhone: {{phone}}',
    })
    const call = (values: object) =>
      toolCallReply({ name: 'fill_form', arguments: { documentId, values } })
    const name = { value: 'Ada Lovelace', source: 1 }
    const search = { name: 'semantic_search', arguments: { query: 'Ada Lovelace London', topK: 1 } }
    const { extras } = await askBy(way, { server, upstream }, [
      toolCallReply(search),
      call({ name, city: { value: 'Paris', source: 1 } }),
      call({ name, city: { value: 'London', source: 'user' } }),
      textReply('Your phone number is missing.'),
    ])
    const told = modelRequest(upstream.requests.at(-1)).messages.filter(
      ({ role }) => role === 'tool',
    )
    expect(told[1]?.content).toBe('The tool failed: city: passage [1] does not say paris')
    expect(told[2]?.content).toContain('Not filled: phone')
    const [artifact] = extras.artifacts ?? []
    expect(await (await server.request(artifact?.url ?? '')).text()).toBe(
      'Name: Ada Lovelace\nCity: London\nPhone: {{phone}}',
    )
  },
)
