import FoundationEssentials
import Glibc
import TestSupport
import Testing

extension SystemTests {
    /// When `deploy/build` asks SwiftPM for a build. The tests use a small project with a fake compiler, which records each call.
    @Suite("deploy/build")
    struct DeployBuildTests {
        /// Each follows the ones before it.
        private static let changes = [
            "echo >> Services/Cube/Main.swift", "echo >> Shared/Base/JSON/JSON.swift", "echo >> Package.swift",
            "echo >> Package.resolved", "echo '#' >> deploy/dependencies", "echo >> Shared/CCurl/shim.h",
            // The same size, and times that are older than the last build.
            "sed -i 's/one/two/' Services/Cube/Main.swift && touch -d 2001-01-01 Services/Cube/Main.swift",
            "cd Services/Cube && cp -p Main.swift copy && cat copy > Main.swift && touch -r copy Main.swift && rm copy",
            "touch -d 2001-01-01 Shared/Base/JSON/New.swift", "rm Shared/Base/JSON/New.swift",
            "mv Shared/Base/JSON/JSON.swift Shared/Base/JSON/Other.swift", "mv Shared/Base/JSON Shared/Text",
            "mv Shared/Text/Other.swift Services/Cube/JSON.swift",
            "rm .build/release/msi-cube", "chmod -x .build/release/msi", "echo >> .build/release/msi", "rm -r .build",
            "echo 6.4 > version", "rm .build/deploy-build-release-product.stamp",
            "sed -i 1d .build/deploy-build-release-product.stamp",
        ]

        @Test("Every change of a source, a manifest, a compiler or a build leads to a build, and after that there is none")
        func changed() async throws {
            try await withProject { project in
                #expect(try await project.build() == .built)
                for change in Self.changes {
                    try await project.run(change)
                    #expect(try await project.build() == .built, "\(change)")
                    #expect(try await project.build() == .unchanged, "\(change)")
                }
            }
        }

        @Test("A build of the tests is also one of the product, which no change of the tests or of a text builds again")
        func tests() async throws {
            try await withProject { project in
                #expect(try await project.build(.tests) == .built)
                #expect(try await project.build() == .unchanged)
                try await project.run("echo >> Tests/CubeTests/CubeTests.swift; echo > Tests/CubeTests/run.py")
                try await project.run("echo > Services/Cube/API.md")
                #expect(try await project.build() == .unchanged)
                #expect(try await project.build(.tests) == .built)
                #expect(try await project.build(.tests) == .unchanged)
                try await project.run("echo >> Services/Cube/Main.swift")
                #expect(try await project.build() == .built)
                #expect(try await project.build(.tests) == .built)
            }
        }

        @Test("A copy of the project, and another build folder, are built separately")
        func otherFolders() async throws {
            try await withProject { project in
                #expect(try await project.build() == .built)
                try await project.run("mkdir copy && cp -a Package.swift Services Shared deploy .build copy")
                #expect(try await project.build(in: "copy") == .built)
                #expect(try await project.build(in: "copy") == .unchanged)
                #expect(try await project.build(buildFolder: "other") == .built)
                #expect(try await project.build(buildFolder: "other") == .unchanged)
                #expect(try await project.build() == .unchanged)
            }
        }

        @Test("A build that fails is shown, and is tried again")
        func failed() async throws {
            try await withProject { project in
                try await project.run("echo > broken")
                #expect(try await project.build() == .failed)
                #expect(try await project.build() == .failed)
                try await project.run("rm broken")
                #expect(try await project.build() == .built)
                try await project.run("echo > broken; echo >> Package.swift")
                #expect(try await project.build() == .failed)
                try await project.run("rm broken")
                #expect(try await project.build() == .built)
                #expect(try await project.build() == .unchanged)
            }
        }

        @Test(
            "The flags are those of a release build unless the environment asks for debug; another word is refused",
            arguments: [
                (
                    ["BUILD_CONFIGURATION": ""], 0,
                    "--configuration release -Xswiftc -enable-testing -Xswiftc -gline-tables-only "
                        + "-Xswiftc -no-emit-module-separately-wmo"
                ),
                (["BUILD_CONFIGURATION": "debug"], 0, "--configuration debug -Xcc -O2"),
                (["BUILD_CONFIGURATION": "Release"], 2, "BUILD_CONFIGURATION is release or debug, found: Release"),
            ] as [([String: String], Int32, String)])
        func flags(_ environment: [String: String], status: Int32, line: String) async throws {
            let script = try BuiltProduct.packageFolder() + "deploy/build"
            let end = try await withProgram(script, arguments: ["flags"], environment: environment) {
                try await $0.end()
            }
            #expect(end.exitCode == status && end.lines == [line], "\(end.lines)")
        }

        @Test("A file that changes while it is built is built again")
        func changedDuringBuild() async throws {
            try await withProject { project in
                try await project.run("echo 'echo >> Services/Cube/Main.swift; rm during' > during")
                #expect(try await project.build() == .built)
                #expect(try await project.build() == .built)
                #expect(try await project.build() == .unchanged)
            }
        }

        private func withProject(_ body: (SampleProject) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                let project = SampleProject(folder: folder)
                try await project.make()
                try await body(project)
            }
        }
    }
}

/// A project with the product's layout and script, and a replacement of `swift`, which creates executables and records each call.
private struct SampleProject {
    enum Outcome: Hashable {
        case built, unchanged, failed
    }

    enum Kind: String {
        case product, tests
    }

    let folder: String

    private static let compiler = """
        #!/bin/bash
        case "$*" in
        --version) cat "$PROJECT/version" ;;
        build*--show-bin-path) echo "$PWD/${SWIFTPM_BUILD_DIR:-.build}/release" ;;
        build*)
            echo >> "$PROJECT/builds"
            [ ! -e broken ] || { echo "error: it is broken"; exit 1; }
            [ ! -e during ] || . ./during
            folder=${SWIFTPM_BUILD_DIR:-.build}/release
            mkdir -p "$folder"
            for program in msi msi-cube; do
                [ -x "$folder/$program" ] || { rm -f "$folder/$program"; echo > "$folder/$program"; chmod +x "$folder/$program"; }
            done ;;
        esac
        """

    func make() async throws {
        let deploy = try BuiltProduct.packageFolder() + "deploy"
        try await ExecutableFile.write(Self.compiler, to: folder + "/swift")
        try await run(
            """
            mkdir -p Services/Cube Shared/Base/JSON Shared/CCurl Tests/CubeTests deploy bin && mv swift bin && echo 6.3 > version
            cp '\(deploy)'/{build,dependencies,progress} deploy
            echo > Tests/CubeTests/CubeTests.swift
            echo one > Services/Cube/Main.swift; echo > Shared/Base/JSON/JSON.swift; echo > Shared/CCurl/shim.h; echo > Package.swift
            """)
    }

    func run(_ script: String) async throws {
        let end = try await withProgram("/bin/bash", arguments: ["-c", "set -e; cd '\(folder)'; \(script)"]) {
            try await $0.end()
        }
        guard end.exitCode == 0 else { throw TooLate("\(script): \(end.lines)") }
    }

    /// - Parameters:
    ///   - copy: The folder of a copy of the project, relative to the project.
    ///   - buildFolder: The build folder that the environment names for SwiftPM.
    func build(_ kind: Kind = .product, in copy: String = ".", buildFolder: String? = nil) async throws -> Outcome {
        var environment = ["PATH": folder + "/bin:/usr/bin:/bin", "PROJECT": folder, "BUILD_CONFIGURATION": "release"]
        environment["SWIFTPM_BUILD_DIR"] = buildFolder
        let before = builds
        let end = try await withProgram(
            "\(folder)/\(copy)/deploy/build", arguments: [kind.rawValue].filter { $0 != "product" }, environment: environment
        ) {
            try await $0.end()
        }
        guard end.exitCode == 0 else {
            #expect(end.lines.contains { $0.contains("it is broken") }, "\(end.lines)")
            #expect(builds == before + 1)
            return .failed
        }
        let executables = try #require(end.lines.last)
        #expect(executables.hasSuffix("/release") && access(executables + "/msi", X_OK) == 0, "\(end.lines)")
        #expect(end.lines.count == (builds == before ? 1 : 2), "\(end.lines)")
        return builds == before ? .unchanged : .built
    }

    private var builds: Int { (try? Data(contentsOf: URL(filePath: folder + "/builds")).count) ?? 0 }
}
