package org.draftmill.box;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What {@code start} is told.
 *
 * @param home Flink's jars
 * @param config Flink's configuration
 * @param taskManagers how many processes
 * @param slots of each TaskManager, if not as configured
 * @param port of the web UI, if not as configured; 0 for any
 * @param gpus that each TaskManager pretends to have
 * @param highAvailability whether a ZooKeeper runs beside, so that a JobManager may die
 * @param parent process with whose end the box ends
 * @param patience until everything must be up
 * @param overrides {@code key=value}, before the configuration
 */
record StartSettings(
    FlinkHome home,
    Path config,
    int taskManagers,
    Optional<Integer> slots,
    Optional<Integer> port,
    Optional<Integer> gpus,
    boolean highAvailability,
    Optional<Long> parent,
    Duration patience,
    List<String> overrides) {}
