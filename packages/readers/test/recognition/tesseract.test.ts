import { describeRecognition } from './recognition.contract.ts'

describeRecognition('Tesseract', { kind: 'tesseract', languages: ['eng'] })
