import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

/** The two rows that are to be compared: a third takes the place of the first. */
export const usePicked = (project: string) => {
  const [picked, setPicked] = useState<readonly string[]>([]);
  const navigate = useNavigate();
  const pick = (id: string) =>
    setPicked((before) =>
      before.includes(id) ? before.filter((other) => other !== id) : [...before, id].slice(-2),
    );
  const compare = () => {
    const [left, right] = picked;
    if (left && right) navigate({ to: '/compare', search: { project, left, right } });
  };
  return { picked, pick, compare };
};
