import type { MiddlewareObj } from '@middy/core';
import type { ProjectId } from '../../core/foundations/wire/index.ts';
import { ProjectNotes } from '../../core/records/projects.ts';
import type { NamedProject } from './caller.ts';
import type { ServiceEvent } from './event.ts';
import { settings } from './settings.ts';

let notes: ProjectNotes | undefined;

/** Begins to note a project, once in the life of the container. */
export const noteProject = (project: ProjectId): void => {
  notes ??= new ProjectNotes(settings.rollups);
  notes.note(project);
};

/** Begins to note the projects that a request is about to write to. Nothing waits for it. */
export const noteProjects = <Body>(
  projectsOf: (body: Body) => readonly NamedProject[],
): MiddlewareObj<ServiceEvent<Body>> => ({
  before: ({ event }) => {
    for (const { projectId } of projectsOf(event.service.body)) noteProject(projectId);
  },
});
