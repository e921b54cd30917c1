import FoundationEssentials
import Glibc
import PowerCut
import TestSupport
import Testing

/// The content of a recorded disk after a power cut.
@Suite("The simulated disk after a power cut")
struct RecordedDiskTests {
    @Test("After a power cut, a file is complete if it and its folder were synced")
    func syncedFileAndFolder() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a conv=fsync status=none; sync .")
        #expect(files == ["a": "whole"])
    }

    @Test("A file whose folder was not synced is lost")
    func unsyncedFolder() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a conv=fsync status=none")
        #expect(files == [:])
    }

    @Test("A file that was not synced itself is empty")
    func unsyncedFile() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a status=none; sync .")
        #expect(files == ["a": ""])
    }

    @Test("Bytes that were written after the last sync are lost")
    func laterWrites() async throws {
        let files = try await filesLeft(
            by: """
                printf whole | dd of=a conv=fsync status=none; sync .
                printf XX | dd of=a conv=notrunc status=none
                """)
        #expect(files == ["a": "whole"])
    }

    @Test("A renamed file has its old name until the folder is synced")
    func renamedFile() async throws {
        let steps = "printf whole | dd of=a conv=fsync status=none; sync .; mv a b"
        #expect(try await filesLeft(by: steps) == ["a": "whole"])
        #expect(try await filesLeft(by: steps + "; sync .") == ["b": "whole"])
    }

    @Test("A removed file is back if the folder was not synced")
    func removedFile() async throws {
        let steps = "printf whole | dd of=a conv=fsync status=none; sync .; rm a"
        #expect(try await filesLeft(by: steps) == ["a": "whole"])
        #expect(try await filesLeft(by: steps + "; sync .") == [:])
    }

    @Test("A synced file is lost if its folder was not synced into the parent folder")
    func unsyncedParentFolder() async throws {
        let steps = "mkdir d; printf whole | dd of=d/a conv=fsync status=none; sync d"
        #expect(try await filesLeft(by: steps) == [:])
        #expect(try await filesLeft(by: steps + "; sync .") == ["d/a": "whole"])
    }

    @Test("A part of the writes that were not synced may survive")
    func partialLoss() async throws {
        var found: Set<String> = []
        for seed in 0..<20 {
            let files = try await filesLeft(by: "printf whole | dd of=a status=none", .keepsSome(seed: UInt64(seed)))
            found.insert(files["a"] ?? "none")
        }
        #expect(found == ["none", "", "whole"])
    }

    @Test(
        "A record that is cut off, because its process was killed, counts for nothing",
        arguments: [1, 20, 21, 22, 25, 26, 28, 45, 55, 60])
    func recordCutOff(bytes: Int) async throws {
        // The last record has a header of 40 bytes, and 20 of content.
        let killed = "printf 12345678901234567890 | dd of=a status=none"
        let next = "printf whole | dd of=b conv=fsync status=none; sync ."
        #expect(try await filesLeft(by: killed, cutOff: bytes, then: next) == ["a": "", "b": "whole"])
        #expect(try await filesLeft(by: next + "; " + killed, cutOff: bytes) == ["b": "whole"])
    }

    /// Runs a script in an empty folder, cuts the power, and reads every file that is left.
    ///
    /// - Parameters:
    ///   - cutOff: How many bytes of the log are missing after the script.
    ///   - next: A script that runs then.
    private func filesLeft(
        by script: String, _ cut: PowerCut = .losesAllUnsynced, cutOff: Int = 0, then next: String? = nil
    ) async throws -> [String: String] {
        try await withTemporaryFolder { outer in
            let (folder, log) = (outer + "/disk", outer + "/writes")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let recorder = WriteRecorder(folder: folder, log: log)
            var disk = try RecordedDisk(folder)
            try await run(script, in: folder, recorder)
            try #require(truncate(log, recorder.logLength - cutOff) == 0)
            if let next { try await run(next, in: folder, recorder) }
            disk.replay(try WriteLog(path: log))
            try disk.cutPower(cut)
            var files: [String: String] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                if let content = FileManager.default.contents(atPath: folder + "/" + path), path != "d" {
                    files[path] = String(decoding: content, as: UTF8.self)
                }
            }
            return files
        }
    }

    private func run(_ script: String, in folder: String, _ recorder: WriteRecorder) async throws {
        let variables = recorder.variables(executables: ServiceProcess.executables.path(percentEncoded: false))
        let program = try await ChildProcess(
            URL(filePath: "/bin/sh"), ["-ec", "cd '\(folder)'\n" + script],
            environment: variables.merging(["PATH": "/usr/bin:/bin"]) { $1 }, logFile: folder + "-output")
        #expect(await program.end() == 0, "\(program.log)")
    }
}
