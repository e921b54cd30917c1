import Bus
import Schemas
import TestSupport
import Testing

@testable import Chaos

/// What services do every second, while the system clock is wrong.
@Suite("Periodic work", .timeLimit(.minutes(1)))
struct PeriodicWorkTests {
    @Test("A service announces its data every second, even after its clock was set", arguments: [3_600, -3_600] as [Int64])
    func clockStep(seconds: Int64) async throws {
        try await withTemporaryFolder { folder in
            let clock = try SetClock(file: folder + "/clock")
            let library = try await PreloadedLibrary.build("clock", SetClock.source, in: folder)
            let cube = try await ServiceProcess(
                "msi-cube", in: folder, settings: clock.variables.merging(["LD_PRELOAD": library]) { $1 })
            try await withBus { bus in
                let subscriber = try EventSubscriber(
                    bus: bus, endpoints: ["ipc://\(folder)/run/cube-events.sock"], names: [CubeChanged.name], logger: quietLogger)
                func receive(_ count: Int) async {
                    var left = count
                    for await event in subscriber.events {
                        if case .event = event { left -= 1 }
                        if left == 0 { return }
                    }
                }
                await receive(1)
                try clock.set(ahead: seconds)
                // The first ones may have been under way.
                await receive(5)
                try clock.set(ahead: 0)
                await receive(5)
            }
            #expect(await cube.stop() == 0)
        }
    }
}
