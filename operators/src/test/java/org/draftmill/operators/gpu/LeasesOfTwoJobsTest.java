package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two jobs in one TaskManager have classes of their own, but one set of GPUs. */
class LeasesOfTwoJobsTest {
  private static final List<String> GPUS = List.of("jobs-a", "jobs-b");

  /**
   * What a job's class loader does: it loads Draftmill's classes itself, the rest as its parent.
   */
  private static final class JobClassLoader extends URLClassLoader {
    JobClassLoader() {
      super(
          new URL[] {DeviceLease.class.getProtectionDomain().getCodeSource().getLocation()},
          LeasesOfTwoJobsTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("org.draftmill.operators.gpu.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }

    AutoCloseable take(String holder) throws Exception {
      Class<?> claims = loadClass(GpuClaim.class.getName());
      Object claim = claims.getConstructor(String.class, List.class).newInstance(holder, GPUS);
      Object lease =
          loadClass(DeviceLease.class.getName())
              .getMethod("take", String.class, claims)
              .invoke(null, "auto", claim);
      return (AutoCloseable) lease;
    }

    static Object gpu(AutoCloseable lease) throws Exception {
      return ((Optional<?>) lease.getClass().getMethod("gpu").invoke(lease)).orElseThrow();
    }
  }

  @Test
  void shareTheGpusOfTheProcess() throws Exception {
    try (JobClassLoader one = new JobClassLoader();
        JobClassLoader other = new JobClassLoader()) {
      AutoCloseable first = one.take("target of one");
      AutoCloseable second = other.take("target of the other");
      assertThat(first.getClass()).isNotEqualTo(second.getClass());
      assertThat(JobClassLoader.gpu(first)).isEqualTo("jobs-a");
      assertThat(JobClassLoader.gpu(second)).isEqualTo("jobs-b");
      assertThatThrownBy(() -> other.take("drafter of the other"))
          .isInstanceOf(InvocationTargetException.class)
          .cause()
          .hasMessageContaining("jobs-a: target of one; jobs-b: target of the other");

      first.close();
      AutoCloseable third = other.take("drafter of the other");
      assertThat(JobClassLoader.gpu(third)).isEqualTo("jobs-a");
      second.close();
      third.close();
    }
    assertThat(System.getProperties()).doesNotContainKey("draftmill.gpu.jobs-a.holder");
  }
}
