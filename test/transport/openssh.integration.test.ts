import { contractCases } from './contract-cases.ts'

contractCases('openssh')
