import type { Patch, Version } from './make-version.ts'

/** Where the schema's steps and the statements stand. */
const STORES = 'packages/stores/src'

/** The step to a version, in both databases. */
function step(name: string, sql: string) {
  return {
    patches: [{ file: `${STORES}/steps.ts`, from: '\n]', to: `\n  './${name}.sql',\n]` }],
    files: {
      [`${STORES}/sqlite/${name}.sql`]: sql,
      [`${STORES}/postgres/${name}.sql`]: sql,
    },
  }
}

/** A new table, a new column that is filled, a new form of chunks beside the former one, and an index that is made anew. */
const SECOND = step(
  'second',
  `CREATE TABLE next_things (name text NOT NULL);
INSERT INTO next_things VALUES ('made');
ALTER TABLE documents ADD COLUMN words integer;
UPDATE documents SET words = (SELECT length(text) FROM contents WHERE contents.document = documents.number
  ORDER BY contents.revision LIMIT 1);
ALTER TABLE chunks ADD COLUMN body text;
UPDATE chunks SET body = 'v2|' || text;
DROP INDEX documents_of_status;
CREATE INDEX documents_of_status ON documents (status, words, number);`,
)

/** Another form of chunks, and the first one is gone: what a server of 0.1 wrote beside one of 0.2 has no second form. */
const THIRD = step(
  'third',
  `UPDATE chunks SET body = 'v3|' || coalesce(substr(body, 4), text), text = '';
ALTER TABLE next_things ADD COLUMN number integer;
CREATE TABLE later_things (name text NOT NULL);`,
)

const INSERTED = 'start, "end", heading, text, page, page_end)'
const BODY = 'substr(chunks.body, 4)'

const inserting = (mark: string, text: string): Patch[] => [
  {
    file: `${STORES}/sqlite/dialect.ts`,
    from: `${INSERTED}\n  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    to: `start, "end", heading, body, text, page, page_end)
  VALUES ($1, $2, $3, $4, $5, $6, $7, '${mark}' || $8, ${text === '' ? `''` : '$8'}, $9, $10)`,
  },
  {
    file: `${STORES}/postgres/dialect.ts`,
    from: `${INSERTED}\n  SELECT $1::bigint, $2::integer, * FROM unnest(`,
    to: `start, "end", heading, page, page_end, body, text)
  SELECT $1::bigint, $2::integer, one, two, three, four, five, seven, eight, '${mark}' || six, ${text === '' ? `''` : 'six'} FROM unnest(`,
  },
  {
    file: `${STORES}/postgres/dialect.ts`,
    from: '$8::text[], $9::integer[], $10::integer[])`',
    to: '$8::text[], $9::integer[], $10::integer[]) AS each (one, two, three, four, five, six, seven, eight)`',
  },
]

const reading = (text: string): Patch => ({
  file: `${STORES}/sql/chunks.ts`,
  from: 'start, "end", heading, text, page, page_end,\n',
  to: `start, "end", heading, ${text} AS text, page, page_end,\n`,
})

/** The setting, and the limit of the agent, that both versions rename. */
function renaming(
  names: { setting: string; former: readonly string[] },
  field: { name: string; former: readonly string[] },
) {
  const { setting, former } = names
  const variables = former.map((name) => `${name}: '${setting}'`)
  const fields = field.former.flatMap((name) => [
    `'limits.${name}': '${field.name}'`,
    `'agents.*.limits.${name}': '${field.name}'`,
  ])
  const uses = [
    'src/agent/tools/catalogue.ts',
    'src/compose/agent.ts',
    'src/variable-labels.ts',
    'src/variables.ts',
  ]
  return [
    ...uses.map(
      (file): Patch => ({
        file,
        from: 'TOP_K',
        to: setting,
        ...(file.endsWith('catalogue.ts') && { times: 2 }),
      }),
    ),
    {
      file: 'src/variables.ts',
      from: 'FORMER_VARIABLES: FormerNames = {}',
      to: `FORMER_VARIABLES: FormerNames = { ${variables} }`,
    },
    {
      file: 'src/agent/configuration.ts',
      from: 'FORMER_FIELDS: FormerNames = {}',
      to: `FORMER_FIELDS: FormerNames = { ${fields} }`,
    },
    {
      file: 'src/agent/configuration.ts',
      from: '  toolCalls: z.int()',
      to: `  ${field.name}: z.int()`,
    },
    {
      file: 'src/agent/run/budget.ts',
      from: 'limits.toolCalls',
      to: `limits.${field.name}`,
      times: 2,
    },
  ]
}

/** What servers of another version must build anew. */
const searchIndex = (format: number, vectors: number): Patch[] => [
  {
    file: 'packages/search/src/embedded/snapshot.ts',
    from: '  format: 3,',
    to: `  format: ${format},`,
  },
  {
    file: 'packages/search/src/embedded/vectors.ts',
    from: '  format: 1,',
    to: `  format: ${vectors},`,
  },
]

export const SECOND_VERSION: Version = {
  name: '0.2.0',
  files: SECOND.files,
  patches: [
    ...SECOND.patches,
    ...inserting('v2|', 'also'),
    reading(`coalesce(${BODY}, chunks.text)`),
    ...searchIndex(4, 2),
    ...renaming(
      { setting: 'PASSAGES', former: ['TOP_K'] },
      { name: 'calls', former: ['toolCalls'] },
    ),
  ],
}

export const THIRD_VERSION: Version = {
  name: '0.3.0',
  files: { ...SECOND.files, ...THIRD.files },
  patches: [
    ...SECOND.patches,
    ...THIRD.patches,
    ...inserting('v3|', ''),
    reading(BODY),
    {
      file: `${STORES}/sql/lookup.ts`,
      from: '"end", text, page, page_end FROM chunks',
      to: `"end", ${BODY} AS text, page, page_end FROM chunks`,
      times: 2,
    },
    {
      file: `${STORES}/sql/corpus.ts`,
      from: '"end", heading, text, page, page_end, vector',
      to: `"end", heading, ${BODY} AS text, page, page_end, vector`,
    },
    ...searchIndex(5, 3),
    {
      file: 'packages/search/src/analyser/analyser.ts',
      from: 'DEFAULT_VERSION = 4',
      to: 'DEFAULT_VERSION = 5',
    },
    ...renaming(
      { setting: 'FOUND_PASSAGES', former: ['TOP_K', 'PASSAGES'] },
      { name: 'callsOfTools', former: ['toolCalls', 'calls'] },
    ),
  ],
}
