package org.draftmill.operators.busy;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.executiongraph.IOMetrics;
import org.apache.flink.runtime.minicluster.MiniCluster;

/**
 * Where the time of a subtask went, as Flink's web UI tells it of a job that has ended.
 *
 * @param busy milliseconds, as the others
 */
public record TestingTaskTimes(double busy, double idle, double backPressured) {

  /** Of all subtasks of the task whose name contains {@code name}. */
  public static List<TestingTaskTimes> of(MiniCluster cluster, JobID job, String name)
      throws Exception {
    List<TestingTaskTimes> times = new ArrayList<>();
    for (AccessExecutionJobVertex task :
        cluster.getExecutionGraph(job).get().getVerticesTopologically()) {
      if (task.getName().contains(name)) {
        for (AccessExecutionVertex subtask : task.getTaskVertices()) {
          IOMetrics io = subtask.getCurrentExecutionAttempt().getIOMetrics();
          times.add(
              new TestingTaskTimes(
                  io.getAccumulateBusyTime(),
                  io.getAccumulateIdleTime(),
                  io.getAccumulateBackPressuredTime()));
        }
      }
    }
    return times;
  }
}
