export { agentSpan, isOfAgent, leftOut, storeFacts } from './meeting.ts';
