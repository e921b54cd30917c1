import Bus
import Base
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// The archive's limit, and the space on its disk.
@Suite("Disk watch", .timeLimit(.minutes(10)))
struct DiskWatchTests {
    @Test("At 90 % of the allowed size the log warns with the figure; at 95 % new messages are refused, and nothing else")
    func limit() async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            let first = LogMessage.sample("first", idempotencyKey: "k")
            let file = folder + "/message-log.sqlite"
            try await RunningMessageLog.with(in: folder) { log in
                _ = try await log.log(first)
                try await concurrently(20) { _ in
                    // Enough that the file grows little between two measurements.
                    for _ in 0..<400 { _ = try await log.log(.sample(sendAt: .now + 86_400_000)) }
                }
                // The write-ahead log alone has this size.
                #expect(try Self.size(of: file + "-wal") > 1_000_000)
            }
            let limit = try Self.size(of: file) * 100 / 91
            try await RunningMessageLog.with(in: folder, settings: ["MSI_MESSAGE_LOG_STORAGE_LIMIT": "\(limit)"]) { log in
                try await eventually { log.process.log.contains("the archive is nearly full") }
                #expect(log.process.log.firstMatch(of: /"percent":"9\d"/) != nil)
                let nearlyFull = try await log.client.request(CheckHealth()).parts
                #expect(nearlyFull["storage"]?.status == .storageFull && nearlyFull["store"] == nil)
                var refusal: CommandFailure?
                for _ in 0..<10_000 where refusal == nil {
                    do throws(CommandFailure) {
                        _ = try await log.client.request(LogMessage.sample(distribution: .information), context: .communicator)
                    } catch {
                        refusal = error
                    }
                }
                #expect(refusal?.status == .storageFull)
                #expect(refusal?.message.contains("\(limit)") == true)
                try await eventually("a line about it") {
                    log.process.log.contains("the archive is full: new messages are refused")
                }
                let full = try await log.client.request(CheckHealth()).parts["store"]
                #expect(full?.status == .storageFull && full?.message == refusal?.message)
                let report = AddReceipts(installation: ObjectID(), report: 1, received: [first.msiKey], opened: [])
                #expect(await log.client.failure(of: report)?.status == .storageFull)
                // The write-ahead log counts as well.
                #expect(try Self.size(of: file) < limit)
                // A client that repeats a command gets the stored message, by either key.
                #expect(try await log.log(first).msiKey == first.msiKey)
                #expect(try await log.log(.sample("first", idempotencyKey: "k")).msiKey == first.msiKey)
                try await relay.run(in: folder) {
                    _ = try await log.wait(for: first.msiKey) { $0.state == .relayed }
                }
            }
        }
    }

    private static func size(of file: String) throws -> Int64 {
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size]
        return Int64(try #require(size as? UInt64))
    }

    @Test("Each level of storage is logged once, and left with hysteresis")
    func marks() {
        var level = DiskLevel(limit: 1_000)
        let sizes: [Int64] = [0, 899, 900, 949, 950, 2_000, 940, 939, 860, 849, 100]
        let marks = sizes.map { level.measured($0, on: nil) }
        #expect(marks == [nil, nil, .nearlyFull, nil, .full, nil, nil, .nearlyFull, nil, .fine, nil])
        let full = level.measured(5_000, on: nil)
        #expect(full == .full && level.percent == 500)
    }

    @Test("A disk is full when only its reserve is free, whatever the archive's size")
    func disk() {
        let megabyte: Int64 = 1 << 20
        for (total, reserve) in [(24, 8), (1_000, 50), (100_000, 256)] as [(Int64, Int64)] {
            var level = DiskLevel(limit: nil)
            let free = [reserve * 4, reserve * 2, reserve + 1, reserve - 1, reserve + 1, reserve * 5 / 4, reserve * 4]
            let marks = free.map { level.measured(1, on: DiskSpace(free: $0 * megabyte, total: total * megabyte)) }
            #expect(marks == [nil, .nearlyFull, nil, .full, nil, .nearlyFull, .fine], "\(total) MiB")
        }
    }
}
