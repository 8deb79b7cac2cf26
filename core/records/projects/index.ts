export { ProjectNotes } from './note.ts';
export { queryProjects, readsAnything } from './query.ts';
