import type { ReactNode } from 'react';
import type { Role } from '../../../foundations/auth/roles.ts';
import { useAllowed } from '../../session/session.tsx';

interface LackingProps {
  readonly project: string;
  readonly needs: Role;
  /** What the role is needed for: `to change this`. */
  readonly what: string;
}

/** Says why something is not there for somebody. */
export const Lacking = ({ project, needs, what }: LackingProps) => (
  <p className="muted">
    It takes the role {needs} on {project} {what}. Somebody with the role admin can give it to you.
  </p>
);

interface ForAdminsProps {
  readonly project: string;
  readonly what: string;
  readonly children: ReactNode;
}

/** What only administrators of the project see; the others read why. */
export const ForAdmins = ({ project, what, children }: ForAdminsProps) =>
  useAllowed(project, 'admin') ? children : <Lacking project={project} needs="admin" what={what} />;
