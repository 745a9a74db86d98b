import { groupRoutes } from '@agent-server/http/reference.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createEvaluations, type Dependencies } from './evaluations.ts'
import { questionRoutes } from './question-routes.ts'
import { createQuestions } from './questions.ts'
import { runRoutes } from './run-routes.ts'
import type { QuestionStore } from './store.ts'

export interface EvaluationServices extends Omit<Dependencies, 'questions'> {
  questionStore: QuestionStore
}

/** Questions whose right documents are known, and what is measured with them. */
export const evaluationRoutes: FastifyPluginAsyncZod<EvaluationServices> = async (
  app,
  services,
) => {
  const questions = createQuestions(services.questionStore)
  const evaluations = createEvaluations({ ...services, questions })
  groupRoutes(app, 'admin', ['admin'])
  app.addHook('onClose', () => evaluations.close())
  app.register(questionRoutes, { questions })
  app.register(runRoutes, { evaluations })
}
