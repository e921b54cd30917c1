import ServiceKit
import Testing

@testable import Chaos

@Suite("The schedule of a chaos run")
struct ScheduleTests {
    private func schedule(_ seed: UInt64, seconds: Double) -> Schedule {
        Schedule(seed: seed, length: .seconds(seconds), parts: Part.allCases)
    }

    @Test("Every service of the catalogue but the identity emulator has faults, and each of its processes has its own")
    func catalogue() {
        #expect(Set(Part.allCases.compactMap(\.service)) == Set(ServiceEntry.all))
        #expect(Set(Part.allCases.map(\.name)).count == Part.allCases.count)
        for part in Part.allCases {
            let actions = schedule(1, seconds: 600).faults.filter { $0.part == part }.map(\.action)
            #expect(Set(actions) == Set(part.actions), "\(part.name)")
            #expect(actions.isEmpty == (part == .identityEmulator), "\(part.name)")
        }
    }

    @Test("The same seed and length make the same schedule, another seed another one")
    func seeds() {
        #expect(schedule(1, seconds: 600) == schedule(1, seconds: 600))
        #expect(schedule(1, seconds: 600) != schedule(2, seconds: 600))
    }

    @Test("A process has one fault at a time, and all faults end with the run", arguments: 1...50 as ClosedRange<UInt64>)
    func oneAtATime(seed: UInt64) {
        for seconds in [0.5, 36, 600] {
            let length = Duration.seconds(seconds)
            let faults = schedule(seed, seconds: seconds).faults
            #expect(faults == faults.sorted { $0.at < $1.at })
            #expect(faults.allSatisfy { $0.at + $0.length <= length })
            for part in Part.allCases {
                let own = faults.filter { $0.part == part }
                for (fault, next) in zip(own, own.dropFirst()) { #expect(fault.at + fault.length < next.at) }
            }
        }
    }

    @Test("Every fault occurs within two and a half minutes", arguments: 1...50 as ClosedRange<UInt64>)
    func completeness(seed: UInt64) {
        let faults = schedule(seed, seconds: 150).faults
        for part in Part.allCases {
            #expect(Set(faults.filter { $0.part == part }.map(\.action)) == Set(part.actions), "\(part)")
        }
    }

    @Test(
        "A run of one minute kills each process alone, and has every fault of the machine",
        arguments: 1...50 as ClosedRange<UInt64>)
    func oneMinute(seed: UInt64) {
        for store in Store.allCases {
            let parts = store.processes + [.machine]
            let faults = Schedule(seed: seed, length: .seconds(60), parts: parts).faults
            // That of all processes at once does not count.
            let alone = Dictionary(grouping: faults.filter { $0.action == .kill }, by: \.at).values.filter { $0.count == 1 }
            #expect(
                Set(alone.flatMap(\.self).map(\.part)) == Set(store.processes).subtracting([.identityEmulator]), "\(store)")
            #expect(Set(faults.filter { $0.part == .machine }.map(\.action)) == Set(Fault.Action.ofMachine), "\(store)")
        }
    }

    @Test("No process has a fault while the power is off", arguments: 1...50 as ClosedRange<UInt64>)
    func powerCuts(seed: UInt64) {
        let faults = schedule(seed, seconds: 600).faults
        for cut in faults where cut.action == .cutPower {
            let others = faults.filter { $0.part != .machine && $0.at < cut.at + cut.length && cut.at < $0.at + $0.length }
            #expect(others.isEmpty)
        }
    }

    @Test(
        "With another version, each service is upgraded and rolled back within two and a half minutes, and killed and stopped for it",
        arguments: 1...50 as ClosedRange<UInt64>)
    func mixed(seed: UInt64) {
        let faults = Schedule(seed: seed, length: .seconds(150), parts: Part.allCases, mixed: Part.ofProduct).faults
        for part in Part.ofProduct {
            let changes = faults.filter { $0.part == part && $0.changesVersion }
            #expect(changes.count >= 2, "\(part.name)")
            #expect(Set(changes.map(\.action)).isSuperset(of: [.kill, .restart]), "\(part.name)")
        }
        #expect(faults.allSatisfy { !$0.changesVersion || Part.ofProduct.contains($0.part) && $0.action.replacesProcess })
    }

    @Test("Another version changes no time, target or kind of a fault")
    func sameFaults() {
        let mixed = Schedule(seed: 1, length: .seconds(600), parts: Part.allCases, mixed: Part.ofProduct).faults
        let unmixed = mixed.map { Fault(at: $0.at, part: $0.part, action: $0.action, length: $0.length) }
        #expect(unmixed == schedule(1, seconds: 600).faults)
    }

    @Test("Only a long run freezes processes for longer than a lease")
    func longFreezes() {
        let lease = Duration.seconds(35)
        #expect(schedule(1, seconds: 60).faults.allSatisfy { $0.length < lease })
        let long = schedule(1, seconds: 900).faults.filter { $0.length > lease }
        #expect(Set(long.map(\.part)) == Set(Part.allCases).subtracting([.machine, .identityEmulator]))
        #expect(long.allSatisfy { $0.action == .freeze })
    }
}
