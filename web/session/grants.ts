import type { Me } from './session.tsx';

type Role = Me['grants'][number]['role'];

/** Whether a key may do something to a project. The service decides; this says it beforehand. */
export const allows = ({ grants }: Pick<Me, 'grants'>, project: string, role: Role): boolean =>
  grants.some(({ resource, role: granted }) => {
    const includes = granted === role || (granted === 'write' && role === 'read');
    const covers =
      resource === '*' || resource === project || resource === `${project.slice(0, project.indexOf('/'))}/*`;
    return includes && covers;
  });
