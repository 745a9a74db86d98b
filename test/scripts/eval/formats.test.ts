import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { readCollection } from '../../../scripts/eval/formats.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

async function folderOf(files: Record<string, string | object>): Promise<string> {
  const folder = await temporaryDirectory()
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await writeFile(join(folder, name), text)
  }
  return folder
}

async function read(folder: string, format: string) {
  const { documents, questions } = await readCollection(folder, format)
  const asked = questions.map(({ relevant, ...one }) => ({
    ...one,
    relevant: [...relevant.keys()],
  }))
  return { documents: await Array.fromAsync(documents()), questions: asked }
}

const lines = (...each: object[]) => each.map((one) => `${JSON.stringify(one)}\n`).join('')

it('reads kinds and facts of a set in BEIR layout, and questions that nothing answers', async () => {
  const folder = await folderOf({
    'corpus.jsonl': lines({ _id: 'a', text: 'A' }, { _id: 'b', text: ' ' }),
    'queries.jsonl': lines(
      { _id: '1', text: 'x', kind: 'typo', facts: ['A'] },
      { _id: '2', text: 'y', facts: [] },
      { _id: '3', text: 'not judged' },
    ),
    'qrels.tsv': 'query-id\tcorpus-id\tscore\n1\ta\t1\n',
  })
  expect(await read(folder, 'beir')).toEqual({
    documents: [{ _id: 'a', text: 'A' }],
    questions: [
      { id: '1', text: 'x', kind: 'typo', facts: ['A'], relevant: ['a'] },
      { id: '2', text: 'y', facts: [], relevant: [] },
    ],
  })
})

it('reads XQuAD, with questions and paragraphs in one language or two', async () => {
  const squad = (context: string, question: string) => {
    const qas = [{ id: 'q', question, answers: [] }]
    return { data: [{ title: 'T', paragraphs: [{ context, qas }] }] }
  }
  const folder = await folderOf({
    'xquad.en.json': squad('It opens at nine.', 'When?'),
    'xquad.de.json': squad('Sie öffnet um neun.', 'Wann?'),
  })
  const asked = (text: string) => [{ id: 'q', text, relevant: ['0'] }]
  const documents = [{ _id: '0', text: 'It opens at nine.' }]
  expect(await read(folder, 'xquad')).toEqual({ documents, questions: asked('When?') })
  expect(await read(folder, 'xquad:de')).toEqual({ documents, questions: asked('Wann?') })
  const german = [{ _id: '0', text: 'Sie öffnet um neun.' }]
  expect(await read(folder, 'xquad:de-de')).toEqual({
    documents: german,
    questions: asked('Wann?'),
  })
})

it('reads the cases of τ-Knowledge without what is said about playing them', async () => {
  const instructions =
    'You are playing the role of a customer. Your card was lost. Never respond as an assistant.'
  const folder = await folderOf({
    'documents/a.json': { id: 'a', title: 'Lost cards', content: 'Block it.' },
    'tasks/1.json': {
      id: '1',
      user_scenario: { persona: null, instructions },
      required_documents: ['a'],
    },
    'tasks/2.json': { id: '2', user_scenario: { instructions: 'x' }, required_documents: [] },
  })
  expect(await read(folder, 'tau-knowledge')).toEqual({
    documents: [{ _id: 'a', title: 'Lost cards', text: 'Block it.' }],
    questions: [{ id: '1', text: 'Your card was lost.', relevant: ['a'] }],
  })
})

it('reads the questions of FinanceBench whose reports are there, by page', async () => {
  const question = (id: string, doc_name: string) => ({
    financebench_id: id,
    doc_name,
    question: `Q ${id}`,
    question_type: 'metrics-generated',
    evidence: [{ doc_name, evidence_page_num: 58, evidence_text: '…' }],
  })
  const folder = await folderOf({
    'data/financebench_open_source.jsonl': lines(question('1', '3M'), question('2', 'GONE')),
    'pdfs/3M.pdf': '%PDF',
  })
  expect(await read(folder, 'finance-bench')).toEqual({
    documents: [{ _id: '3M', path: join(folder, 'pdfs', '3M.pdf') }],
    questions: [
      { id: '1', text: 'Q 1', kind: 'metrics-generated', byPage: true, relevant: ['3M#59'] },
    ],
  })
})

it('reads the judged questions that a server exports', async () => {
  const kept = { createdAt: '2026-11-28T10:00:00Z', updatedAt: '2026-11-28T10:00:00Z' }
  const owls = { id: 'q_1', question: 'When?', facts: ['at night'], collection: 'birds', ...kept }
  const folder = await folderOf({
    'set.jsonl': lines(
      { ...owls, relevant: [{ documentId: 'owls', page: 3, grade: 1 }] },
      { question: 'Who counts?', facts: [] },
    ),
  })
  const { documents, questions } = await read(join(folder, 'set.jsonl'), 'beir')
  expect(documents).toEqual([])
  expect(questions).toEqual([
    {
      id: 'q_1',
      text: 'When?',
      facts: ['at night'],
      collection: 'birds',
      byPage: true,
      relevant: ['owls#3'],
    },
    { id: '2', text: 'Who counts?', facts: [], byPage: false, relevant: [] },
  ])
})

it('reads a domain of MTRAG, rewritten or as it was asked', async () => {
  const tasks = 'mtrag-human/retrieval_tasks/cloud'
  const folder = await folderOf({
    'corpora/passage_level/cloud.jsonl': lines({ _id: 'p', title: 'T', text: 'P', url: 'x' }),
    [`${tasks}/cloud_rewrite.jsonl`]: lines({ _id: 'c<::>2', text: '|user|: Can Cloudant do it?' }),
    [`${tasks}/cloud_lastturn.jsonl`]: lines({ _id: 'c<::>2', text: '|user|: Can it?' }),
    [`${tasks}/qrels/dev.tsv`]: 'query-id\tcorpus-id\tscore\nc<::>2\tp\t1\n',
  })
  const documents = [{ _id: 'p', title: 'T', text: 'P' }]
  const asked = (text: string) => [{ id: 'c<::>2', text, relevant: ['p'] }]
  expect(await read(folder, 'mtrag:cloud')).toEqual({
    documents,
    questions: asked('Can Cloudant do it?'),
  })
  expect(await read(folder, 'mtrag:cloud-lastturn')).toMatchObject({ questions: asked('Can it?') })
})

it('refuses a format that it does not know, with those that there are', async () => {
  await expect(async () => readCollection('.', 'msmarco')).rejects.toThrow(/one of beir, xquad/)
})
