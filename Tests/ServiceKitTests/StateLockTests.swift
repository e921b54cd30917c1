import Base
import FoundationEssentials
import ServiceKit
import TestSupport
import Testing

/// Which programs may use a state directory at the same time.
@Suite("State lock")
struct StateLockTests {
    @Test("Any number of services share the data, and an exclusive user must wait for the last of them")
    func sharing() async throws {
        try await withTemporaryFolder { folder in
            let directory = folder + "/state"
            let services = try (0..<3).map { _ in try StateLock.servingData(in: directory) }
            for service in services {
                let refusal = #expect(throws: StateLockFailure.self) { try alone(.data, in: directory) }
                #expect(refusal?.description.hasPrefix("in use") == true)
                service.release()
            }
            let migration = try alone(.data, in: directory)
            let refusal = #expect(throws: StateLockFailure.self) { try StateLock.servingData(in: directory) }
            #expect(refusal?.description.contains("msi migrate is at work") == true)
            migration.release()
            try StateLock.servingData(in: directory).release()
        }
    }

    @Test("The lock of the supervisor is exclusive, and does not lock the data")
    func control() async throws {
        try await withTemporaryFolder { folder in
            let control = try alone(.control, in: folder)
            try StateLock.servingData(in: folder).release()
            #expect(throws: StateLockFailure.self) { try alone(.control, in: folder) }
            control.release()
        }
    }

    @Test("While a restore is not finished, no service starts, wherever its data is")
    func unfinishedRestore() async throws {
        try await withTemporaryFolder { folder in
            try StateLock.serving("cube.sqlite", inMongoDB: false, stateDirectory: folder)?.release()
            #expect(try StateLock.serving("cube.sqlite", inMongoDB: true, stateDirectory: folder + "/absent") == nil)
            let ready = "\(folder)/\(StateLock.unfinishedRestore)"
            try FileManager.default.createDirectory(atPath: ready, withIntermediateDirectories: false)
            for inMongoDB in [false, true] {
                let refusal = #expect(throws: StateLockFailure.self) {
                    try StateLock.serving("cube.sqlite", inMongoDB: inMongoDB, stateDirectory: folder)
                }
                #expect(refusal?.description.contains("msi restore was interrupted") == true)
            }
        }
    }

    private func alone(_ part: StateLock.Part, in directory: String) throws -> StateLock {
        try StateLock(part, .alone, in: directory, orElse: "in use")
    }
}
