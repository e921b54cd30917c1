import FoundationEssentials
import PowerCut
import TestSupport
import Testing

/// What a recorded programme finds after a power cut, by what it synced.
struct RecordedDiskTests {
    @Test func `a file is there whole when it and its folder were synced`() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a conv=fsync status=none; sync .")
        #expect(files == ["a": "whole"])
    }

    @Test func `a file whose folder was not synced is gone`() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a conv=fsync status=none")
        #expect(files == [:])
    }

    @Test func `a file that was not synced itself is there and empty`() async throws {
        let files = try await filesLeft(by: "printf whole | dd of=a status=none; sync .")
        #expect(files == ["a": ""])
    }

    @Test func `what was written after the last sync is gone`() async throws {
        let files = try await filesLeft(
            by: """
                printf whole | dd of=a conv=fsync status=none; sync .
                printf XX | dd of=a conv=notrunc status=none
                """)
        #expect(files == ["a": "whole"])
    }

    @Test func `a file has its old name until the folder is synced`() async throws {
        let steps = "printf whole | dd of=a conv=fsync status=none; sync .; mv a b"
        #expect(try await filesLeft(by: steps) == ["a": "whole"])
        #expect(try await filesLeft(by: steps + "; sync .") == ["b": "whole"])
    }

    @Test func `a removed file is back until the folder is synced`() async throws {
        let steps = "printf whole | dd of=a conv=fsync status=none; sync .; rm a"
        #expect(try await filesLeft(by: steps) == ["a": "whole"])
        #expect(try await filesLeft(by: steps + "; sync .") == [:])
    }

    @Test func `a synced file in a folder that was not synced into its own folder is gone`() async throws {
        let steps = "mkdir d; printf whole | dd of=d/a conv=fsync status=none; sync d"
        #expect(try await filesLeft(by: steps) == [:])
        #expect(try await filesLeft(by: steps + "; sync .") == ["d/a": "whole"])
    }

    @Test func `some of what was not synced may be left`() async throws {
        var found: Set<String> = []
        for seed in 0..<20 {
            let files = try await filesLeft(by: "printf whole | dd of=a status=none", .keepsSome(seed: UInt64(seed)))
            found.insert(files["a"] ?? "none")
        }
        #expect(found == ["none", "", "whole"])
    }

    /// Runs a script in an empty folder, cuts the power, and reads every file that is left.
    private func filesLeft(by script: String, _ cut: PowerCut = .losesAllUnsynced) async throws -> [String: String] {
        try await withTemporaryFolder { outer in
            let folder = outer + "/disk"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let recorder = WriteRecorder(folder: folder, log: outer + "/writes")
            var disk = try RecordedDisk(folder)
            let program = try ChildProcess(
                URL(filePath: "/bin/sh"), ["-ec", "cd '\(folder)'\n" + script],
                environment: recorder.variables(executables: ServiceProcess.executables.path(percentEncoded: false))
                    .merging(["PATH": "/usr/bin:/bin"]) { $1 },
                logFile: outer + "/output")
            #expect(await program.end() == 0, "\(program.log)")
            disk.replay(try WriteLog(path: outer + "/writes"))
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
}
