package org.draftmill.job;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Dependencies point one way: between modules Maven sees to it, within them this does. */
class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.draftmill");

  @Test
  void packagesOfAModuleFormNoCircle() {
    slices().matching("org.draftmill.(operators.*)..").should().beFreeOfCycles().check(CLASSES);
    slices()
        .matching("org.draftmill.operators.(drafter.*)..")
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
    slices().matching("org.draftmill.(corpus.*)..").should().beFreeOfCycles().check(CLASSES);
    slices().matching("org.draftmill.(job.*)..").should().beFreeOfCycles().check(CLASSES);
    slices().matching("org.draftmill.(compute.*)..").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void modelsKnowOperationsAndNoDevice() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.draftmill.compute.target..",
            "org.draftmill.compute.drafter..",
            "org.draftmill.compute.decoding..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.draftmill.compute.cpu..",
            "org.draftmill.compute.cuda..",
            "org.draftmill.compute.reference..")
        .check(CLASSES);
  }

  @Test
  void stagesKnowOnlyWhatComesBeforeThem() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("jobs")
        .definedBy("org.draftmill.operators.jobs..")
        .layer("target")
        .definedBy("org.draftmill.operators.target..")
        .layer("pool")
        .definedBy("org.draftmill.operators.pool..")
        .layer("drafter")
        .definedBy("org.draftmill.operators.drafter..")
        .whereLayer("jobs")
        .mayOnlyBeAccessedByLayers("target")
        .whereLayer("target")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("pool")
        .mayOnlyBeAccessedByLayers("drafter")
        .whereLayer("drafter")
        .mayNotBeAccessedByAnyLayer()
        .check(CLASSES);
  }

  @Test
  void numericCodeAndTheCorpusKnowNoFlink() {
    noClasses()
        .that()
        .resideInAnyPackage("org.draftmill.compute..", "org.draftmill.corpus..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.flink..", "org.draftmill.operators..")
        .check(CLASSES);
  }
}
