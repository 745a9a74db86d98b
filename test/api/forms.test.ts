import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { askBy } from '../support/every-way.ts'
import { hasFonts } from '../support/fonts.ts'
import { sendFile } from '../support/forms.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

it(
  'a form is filled from what was found and what was said',
  verifies('forms.filled', 'forms.sources'),
  async () => {
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
    const { extras } = await askBy('/chat', { server, upstream }, [
      toolCallReply(search),
      call({ name, city: { value: 'Paris', source: 1 } }),
      call({ name, city: { value: 'London', source: 'user' } }),
      textReply('Your phone number is missing.'),
    ])
    const toolResults = modelRequest(upstream.requests.at(-1)).messages.filter(
      ({ role }) => role === 'tool',
    )
    expect(toolResults[1]?.content).toBe('The tool failed: city: passage 1 does not say paris')
    expect(toolResults[2]?.content).toContain('Not filled: phone')
    const [artifact] = extras.artifacts ?? []
    expect(await (await server.request(artifact?.url ?? '')).text()).toBe(
      'Name: Ada Lovelace\nCity: London\nPhone: {{phone}}',
    )
  },
)

const SCRIPTS = 'Ångström Ωμέγα Привет مرحبا שלום'
const ADDRESS = hasFonts ? '東京都渋谷区 1-2' : 'Οδός 1-2'

it('a PDF form that was uploaded is filled in any script', {
  ...onlyLong,
  ...verifies('forms.filled', 'forms.scripts'),
}, async () => {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream))
  const pdf = await PDFDocument.create()
  const page = pdf.addPage([400, 200])
  for (const [index, name] of ['name', 'address', 'phone'].entries()) {
    const field = pdf.getForm().createTextField(name)
    field.addToPage(page, { x: 20, y: 150 - 40 * index, width: 300, height: 24 })
  }
  const bytes = Uint8Array.from(await pdf.save())
  const stored = await sendFile(server, { name: 'form.pdf', bytes })
  const { id: documentId } = DocumentCreated.parse(await stored.json())
  const call = (values: object) =>
    toolCallReply({ name: 'fill_form', arguments: { documentId, values } })
  const name = { value: SCRIPTS, source: 'user' }
  const { extras } = await askBy('/chat', { server, upstream }, [
    call({ name, address: { value: 'ถนนสุขุมวิท', source: 'user' } }),
    call({ name, address: { value: ADDRESS, source: 'user' } }),
    textReply('Your phone number is missing.'),
  ])
  const toolResults = modelRequest(upstream.requests.at(-1)).messages.filter(
    ({ role }) => role === 'tool',
  )
  expect(toolResults[0]?.content).toMatch(
    /^The tool failed: address: the script of ถ .* cannot be drawn$/,
  )
  expect(toolResults[1]?.content).toContain('Not filled: phone')
  const [artifact] = extras.artifacts ?? []
  const file = await server.request(artifact?.url ?? '')
  const filled = (await PDFDocument.load(await file.arrayBuffer())).getForm()
  expect(filled.getTextField('name').getText()).toBe(SCRIPTS)
  expect(filled.getTextField('address').getText()).toBe(ADDRESS)
  expect(filled.getTextField('phone').getText()).toBeUndefined()
})
