import { useNavigate } from '@tanstack/react-router';
import { useKept } from '../../session/use-kept.ts';

const none: readonly string[] = [];

/** The two rows that are to be compared: a third takes the place of the first. */
export const usePicked = (project: string) => {
  const [picked, keep] = useKept('kept picks', project, none);
  const navigate = useNavigate();
  const pick = (id: string) =>
    keep(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id].slice(-2));
  const compare = () => {
    const [left, right] = picked;
    if (left && right) navigate({ to: '/compare', search: { project, left, right } });
  };
  return { picked, pick, compare };
};
