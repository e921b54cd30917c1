import Bus
import Glibc
import Schemas
import TestSupport
import Testing

/// Concurrent administrators, announcements, and restarts of the service.
@Suite("Cube service's life", .timeLimit(.minutes(10)))
struct CubeLifeTests {
    @Test("It leaves nothing in shared memory after a kill")
    func sharedMemory() async throws {
        try await RunningCube.with { cube in
            #expect(access("/dev/shm/mongoc-\(cube.process.identifier)", F_OK) != 0)
        }
    }

    @Test("Of several edits of the same version, exactly one succeeds")
    func oneWinner() async throws {
        try await RunningCube.with { cube in
            let (channel, area, _) = try await cube.build()
            let seen = try await cube.snapshot().version
            let failures = await withTaskGroup(of: CommandFailure?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        await cube.client.failure(
                            of: UpdateArea(
                                channelID: channel.id, areaID: area.id, area: NamedDraft(name: "\(number)", desc: ""),
                                unchangedSince: seen))
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.count { $0 == nil } == 1)
            #expect(failures.count { $0?.status == .conflict } == 19)
        }
    }

    @Test("Each change is announced, and the version is repeated every second")
    func announcements() async throws {
        try await RunningCube.with { cube in
            var versions = try await cube.listen().makeAsyncIterator()
            var heard: [CubeVersion] = []
            for number in 1...5 {
                let edit = try await cube.client.request(AddChannel(channel: NamedDraft(name: "\(number)", desc: "")))
                while heard.last != edit.version { heard.append(try #require(await versions.next())) }
            }
            for _ in 0..<2 { heard.append(try #require(await versions.next())) }
            #expect(heard == heard.sorted() && heard.last == 5 && Set(heard).isSuperset(of: [1, 2, 3, 4, 5]))
        }
    }

    @Test("Answered changes survive a kill and a stop, and the version continues from there")
    func restarts() async throws {
        try await withTemporaryFolder { folder in
            let added = try await RunningCube.with(in: folder) { cube in
                // Many concurrent changes, interrupted by a kill. The changes that were answered before count.
                await withTaskGroup(of: CubeEdit<Channel>?.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            try? await cube.client.request(
                                AddChannel(channel: NamedDraft(name: "\(number)", desc: "")), timeout: .seconds(10))
                        }
                    }
                    var added: [CubeEdit<Channel>] = []
                    for await case let edit? in group {
                        added.append(edit)
                        if added.count == 50 { await cube.process.kill() }
                    }
                    return added
                }
            }
            #expect(added.count >= 50)
            let second = try await RunningCube.with(in: folder) { cube in try await cube.snapshot() }
            #expect(Set(added.map(\.value)).isSubset(of: second.channels))
            #expect(second.version >= added.map(\.version).max() ?? .initial)
            #expect(second.version.rawValue == second.channels.count)

            try await RunningCube.with(in: folder) { cube in
                let third = try await cube.snapshot()
                #expect(third == second)
                var versions = try await cube.listen().makeAsyncIterator()
                #expect(await versions.next() == second.version)
                let edit = try await cube.client.request(DeleteChannel(channelID: try #require(second.channels.first).id))
                #expect(edit.version.rawValue == second.version.rawValue + 1)
            }
        }
    }

    @Test("A stop answers the requests that were accepted")
    func gracefulStop() async throws {
        try await withTemporaryFolder { folder in
            let answered = try await RunningCube.with(in: folder) { cube in
                _ = try await cube.client.request(ReadCube())
                let outcomes = await withTaskGroup(of: CommandFailure?.self) { group in
                    for number in 0..<300 {
                        group.addTask {
                            await cube.client.failure(of: AddChannel(channel: NamedDraft(name: "\(number)", desc: "")))
                        }
                    }
                    group.addTask {
                        #expect(await cube.process.stop() == 0)
                        return CommandFailure(.ok, "the stop")
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { [nil, .ok, .unavailable].contains($0?.status) })
                expectCleanLog(of: cube.process, secret: "ObjectID", "stopping")
                return outcomes.count { $0 == nil }
            }
            let after = try await RunningCube.with(in: folder) { cube in try await cube.snapshot() }
            // No change is incomplete, and no answered change is missing.
            #expect(after.channels.count >= answered && after.version.rawValue == after.channels.count)
        }
    }

    @Test("A second process with the same state directory is refused with the reason")
    func second() async throws {
        try await withTemporaryFolder { folder in
            try await RunningCube.with(in: folder) { cube in
                let failure = await #expect(throws: ServiceProcess.StartFailed.self) {
                    _ = try await ServiceProcess("msi-cube", in: folder)
                }
                #expect(failure?.description.contains("another process serves it") == true)
                let read = try await cube.snapshot()
                #expect(read.version == 0)
            }
        }
    }
}
