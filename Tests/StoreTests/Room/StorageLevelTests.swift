import Base
import Testing

@testable import Store

@Suite("How full a store is")
struct StorageLevelTests {
    @Test("Each mark is entered once, and left with hysteresis")
    func marks() {
        var level = StorageLevel(limit: 1_000)
        let sizes: [Int64] = [0, 899, 900, 949, 950, 2_000, 940, 939, 860, 849, 100]
        let marks = sizes.map { level.measured($0, on: nil) }
        #expect(marks == [nil, nil, .nearlyFull, nil, .full, nil, nil, .nearlyFull, nil, .fine, nil])
        let full = level.measured(5_000, on: nil)
        #expect(full == .full && level.percent == 100)
    }

    @Test("A disk is full when only its reserve is free, whatever the store's size")
    func disk() {
        let megabyte: Int64 = 1 << 20
        for (total, reserve) in [(24, 8), (1_000, 50), (100_000, 256)] as [(Int64, Int64)] {
            var level = StorageLevel(limit: nil)
            let free = [reserve * 4, reserve * 2, reserve + 1, reserve - 1, reserve + 1, reserve * 5 / 4, reserve * 4]
            let marks = free.map { level.measured(1, on: DiskSpace(free: $0 * megabyte, total: total * megabyte)) }
            #expect(marks == [nil, .nearlyFull, nil, .full, nil, .nearlyFull, .fine], "\(total) MiB")
        }
    }

    @Test("The percentage leaves out the reserve: 90 is nearly full, and 100 is full, of the limit and of the disk")
    func percent() {
        var level = StorageLevel(limit: 1_000)
        let sizes: [Int64] = [0, 500, 899, 900, 925, 949, 950]
        let percents = sizes.map { size -> Int in
            _ = level.measured(size, on: nil)
            return level.percent
        }
        #expect(percents == [0, 50, 89, 90, 95, 99, 100])

        var disk = StorageLevel(limit: nil)
        let gigabyte: Int64 = 1 << 30
        // The reserve is a quarter of a gigabyte.
        let free: [Int64] = [100 * gigabyte, 50 * gigabyte, gigabyte, gigabyte / 2, gigabyte / 4]
        let ofDisk = free.map { free -> Int in
            _ = disk.measured(1, on: DiskSpace(free: free, total: 100 * gigabyte))
            return disk.percent
        }
        #expect(ofDisk == [0, 50, 89, 90, 100] && !disk.isBoundByLimit)

        var both = StorageLevel(limit: 10)
        _ = both.measured(9, on: DiskSpace(free: 50 * gigabyte, total: 100 * gigabyte))
        #expect(both.isBoundByLimit && both.mark == .nearlyFull)
    }
}
