import { describe } from 'vitest'
import { describeAccepted } from '../../contracts/accepted.contract.ts'
import { describeCollectionNames } from '../../contracts/collection-names.contract.ts'
import { describeConversationStore } from '../../contracts/conversation-store.contract.ts'
import { describeDocumentStore } from '../../contracts/document-store.contract.ts'
import { describeEvaluationStore } from '../../contracts/evaluation-store.contract.ts'
import { describeFeedbackStore } from '../../contracts/feedback-store.contract.ts'
import { describeKeyStore } from '../../contracts/key-store.contract.ts'
import { describeOutbox } from '../../contracts/outbox.contract.ts'
import { describePeopleStore } from '../../contracts/people-store.contract.ts'
import { describeQuestionStore } from '../../contracts/question-store.contract.ts'
import { describeRunStore } from '../../contracts/run-store.contract.ts'
import { describeUsageStore } from '../../contracts/usage-store.contract.ts'
import { describeVectorReplacement } from '../../contracts/vector-replacement.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('The document store (needs PostgreSQL)', () => {
  describeDocumentStore('PostgreSQL', createPostgresData)
  describeKeyStore('PostgreSQL', createPostgresData)
  describeUsageStore('PostgreSQL', createPostgresData)
  describeCollectionNames('PostgreSQL', createPostgresData)
  describeConversationStore('PostgreSQL', createPostgresData)
  describeQuestionStore('PostgreSQL', createPostgresData)
  describePeopleStore('PostgreSQL', createPostgresData)
  describeEvaluationStore('PostgreSQL', createAgeingData)
  describeFeedbackStore('PostgreSQL', createPostgresData)
  describeOutbox('PostgreSQL', createPostgresData)
  describeAccepted('PostgreSQL', createPostgresData)
  describeVectorReplacement('PostgreSQL', createPostgresData)
  describeRunStore('PostgreSQL', createSizedData)
})

async function createAgeingData() {
  const data = await createPostgresData()
  const older = 'UPDATE agent_server.evaluations SET updated_at = updated_at - $1'
  return { ...data, age: (milliseconds: number) => data.sql(older, [milliseconds]) }
}

async function createSizedData() {
  const data = await createPostgresData()
  const resized = 'UPDATE agent_server.runs SET size = $1'
  return { ...data, resize: (characters: number) => data.sql(resized, [characters]) }
}
