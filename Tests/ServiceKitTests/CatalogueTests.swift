import ServiceKit
import Testing

/// The settings, sockets and dependencies that derive from the services' entries.
@Suite("Service catalogue")
struct CatalogueTests {
    private func values(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: SettingDeclaration.all)
    }

    @Test("Each service comes after those that it uses")
    func order() {
        for (index, service) in ServiceEntry.all.enumerated() {
            for dependency in service.startDependencies {
                #expect(ServiceEntry.all[..<index].contains(dependency), "\(service.name) before \(dependency.name)")
            }
        }
    }

    @Test("No two services share a name, a port, a socket or a file")
    func distinct() {
        func expectDistinct(_ names: [String]) { #expect(Set(names).count == names.count, "\(names)") }
        expectDistinct(ServiceEntry.all.map(\.executable))
        expectDistinct(ServiceEntry.all.flatMap(\.stateFiles))
        expectDistinct(ServiceEntry.all.flatMap { service in service.sockets.map(service.socketFile) })
        expectDistinct(ServiceEntry.all.compactMap { $0.port?.declaration.fallback })
    }

    @Test("A service's settings have its name, and its clients find it where it listens by default")
    func endpoints() async throws {
        let values = try await values(["MSI_RUNTIME_DIR": "/run/msi"])
        for service in ServiceEntry.all {
            for socket in service.sockets {
                let name = service.name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
                let suffix = socket == .events ? "_EVENTS" : ""
                let listen = Setting<String>.listen(service, socket)
                let endpoints = Setting<[String]>.endpoints(of: service, socket)
                #expect(listen.declaration.name == "MSI_\(name)\(suffix)_LISTEN")
                #expect(endpoints.declaration.name == "MSI_\(name)\(suffix)_ENDPOINTS")
                #expect(try values.value(listen) == "ipc:///run/msi/\(service.socketFile(socket))")
                #expect(try values.value(endpoints) == [try values.value(listen)])
                #expect(service.settings.contains(listen.declaration))
            }
            for use in service.uses {
                for socket in use.sockets {
                    #expect(service.settings.contains(Setting<[String]>.endpoints(of: use.service, socket).declaration))
                }
            }
        }
    }

    @Test("A service that listens elsewhere is found there, unless its clients are told otherwise")
    func movedService() async throws {
        let moved = ["MSI_CUBE_LISTEN": "tcp://127.0.0.1:7000", "MSI_CUBE_EVENTS_LISTEN": "tcp://127.0.0.1:7001"]
        #expect(try await values(moved).value(.endpoints(of: .cube)) == ["tcp://127.0.0.1:7000"])
        #expect(try await values(moved).value(.endpoints(of: .cube, .events)) == ["tcp://127.0.0.1:7001"])
        let told = moved.merging(["MSI_CUBE_ENDPOINTS": "tcp://127.0.0.1:8000,tcp://127.0.0.1:8001"]) { $1 }
        #expect(try await values(told).value(.endpoints(of: .cube)) == ["tcp://127.0.0.1:8000", "tcp://127.0.0.1:8001"])
        let wrong = try await values(["MSI_CUBE_LISTEN": "somewhere"])
        #expect { try wrong.value(.endpoints(of: .cube)) } throws: { "\($0)".hasPrefix("MSI_CUBE_LISTEN: ") }
    }

    @Test("The gateway asks the services whose entries say so, and only services with data get the database")
    func roles() {
        #expect(ServiceEntry.gateway.uses.map(\.service) == ServiceEntry.all.filter { !$0.gatewayUses.isEmpty })
        // Without the relay, messages are accepted and wait.
        #expect(ServiceEntry.gateway.startDependencies == [.people, .cube, .messageLog, .broadcast])
        for service in ServiceEntry.all {
            let names = service.settings.map(\.name)
            #expect(names.contains("MSI_DATABASE_URL") == service.keepsData)
            #expect(names.contains("MSI_DATABASE_URL_FILE") == service.keepsData)
        }
        for service in [ServiceEntry.gateway, .fcmRelay, .fcmEmulator, .identityEmulator] { #expect(!service.keepsData) }
    }
}
