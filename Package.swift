// swift-tools-version: 6.2

import PackageDescription

/// The settings of every target: Swift 6 with strict concurrency, explicit `any`, internal imports by default, and members
/// visible only if their module is imported.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// External libraries, by the names that the targets below use.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioExtras = Target.Dependency.product(name: "NIOExtras", package: "swift-nio-extras")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioHTTPTypesHTTP2 = Target.Dependency.product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceContext = Target.Dependency.product(name: "ServiceContextModule", package: "swift-service-context")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
    name: "mobile-student-intranet",
    products: [
        .executable(name: "msi", targets: ["Operator"]),
        .executable(name: "msi-broadcast", targets: ["Broadcasts"]),
        .executable(name: "msi-canary", targets: ["Canary"]),
        .executable(name: "msi-cube", targets: ["Cube"]),
        .executable(name: "msi-fcm-emulator", targets: ["FCMEmulator"]),
        .executable(name: "msi-fcm-relay", targets: ["FCMRelay"]),
        .executable(name: "msi-gateway", targets: ["Gateway"]),
        .executable(name: "msi-load", targets: ["LoadTester"]),
        .executable(name: "msi-message-log", targets: ["MessageLog"]),
        .executable(name: "msi-people", targets: ["People"]),
        .executable(name: "msi-phone", targets: ["Phone"]),
        // For apps.
        .library(name: "MobileApp", targets: ["MobileApp"]),
        // For the tests: loaded into the services by LD_PRELOAD.
        .library(name: "HostsFile", type: .dynamic, targets: ["HostsFile"]),
        .library(name: "WriteRecorder", type: .dynamic, targets: ["WriteRecorder"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: ["JSON", "CommandLineArguments"]),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.5.1"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        // No traits: the defaults would link all of Foundation.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The services: one folder and one executable each. None imports another.
        .executableTarget(
            name: "Gateway",
            dependencies: [
                "CSV", "CZlib", "CommandBus", "DedicatedThread", "DurableFiles", "FCM", "HTTPRouting", "Instruments", "JSON",
                "JSONSchema", "Pages", "ProductVersion", "Schemas", "ServiceKit", "Time", coreMetrics, crypto, deque, heap,
                httpTypes,
                hummingbird, hummingbirdCore, logging, nioCore, nioExtras, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1,
                nioPosix, nioSSL, serviceContext, serviceLifecycle,
            ],
            path: "Services/Gateway",
            exclude: ["API.md", "Portal/README.md", "Portal/send.png"],
            resources: [.copy("Portal/Files")]),
        .executableTarget(
            name: "Cube",
            dependencies: [
                "AuditTrail", "CommandBus", "CubeStorage", "DurableFiles", "MongoDatabase", "Schemas", "ServiceKit",
                logging,
                serviceLifecycle,
            ],
            path: "Services/Cube"),
        .executableTarget(
            name: "Broadcasts",
            dependencies: [
                "AuditTrail", "CommandBus", "DedicatedThread", "DurableFiles", "FCM", "JSON", "MongoDatabase", "Schemas",
                "ServiceKit", "Storage", "StoredResources", "Time", logging, serviceLifecycle,
            ],
            path: "Services/Broadcasts",
            exclude: ["API.md"]),
        .executableTarget(
            name: "MessageLog",
            dependencies: [
                "AuditTrail", "CommandBus", "DedicatedThread", "DurableFiles", "FCM", "Instruments", "JSON", "MessageStorage",
                "MongoDatabase", "Schemas", "ServiceKit", "Storage", "StoredResources", "Time", coreMetrics, deque,
                logging, serviceContext, serviceLifecycle,
            ],
            path: "Services/MessageLog",
            exclude: ["API.md"]),
        .executableTarget(
            name: "People",
            dependencies: [
                "AuditTrail", "CommandBus", "DedicatedThread", "DurableFiles", "Instruments", "JSON", "MongoDatabase", "Schemas",
                "ServiceKit", "Storage", "Time", asyncHTTPClient, coreMetrics, crypto, cryptoExtras, jwtKit, logging,
                nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Services/People",
            exclude: ["API.md", "AUDIT.md"]),
        .executableTarget(
            name: "FCMRelay",
            dependencies: [
                "CCurl", "CommandBus", "DedicatedThread", "FCM", "Instruments", "JSON", "Schemas", "ServiceKit", "Time",
                coreMetrics, deque, jwtKit, logging, serviceLifecycle,
            ],
            path: "Services/FCMRelay",
            exclude: ["API.md"]),
        .executableTarget(
            name: "FCMEmulator",
            dependencies: [
                "DurableFiles", "EmbeddedDatabase", "HTTPRouting", "JSON", "Schemas", "Time", "SeededRandom", "ServiceKit",
                crypto,
                cryptoExtras,
                deque, grdb,
                httpTypes,
                hummingbird,
                hummingbirdCore,
                jwtKit, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP2, nioSSL, serviceLifecycle,
                swiftASN1, x509,
            ],
            path: "Services/FCMEmulator",
            exclude: ["API.md"]),
        .executableTarget(
            name: "Canary",
            dependencies: [
                "Instruments", "JSON", "Schemas", "ServiceKit", "Time", asyncHTTPClient, coreMetrics, logging, nioCore, nioHTTP1,
                serviceLifecycle,
            ],
            path: "Services/Canary",
            exclude: ["README.md"]),
        .executableTarget(
            name: "Operator",
            dependencies: [
                "AuditTrail", "CSV", "CTimex", "CommandBus", "CubeStorage", "DedicatedThread", "DurableFiles", "EmbeddedDatabase",
                "FCM", "JSON", "MessageStorage", "MongoDatabase", "ProductVersion", "RegisteredStores", "Schemas",
                "ServiceKit", "Storage", "Time", argumentParser, asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioSSL,
                serviceLifecycle, subprocess, systemPackage, unixSignals,
            ],
            path: "Services/Operator"),

        .executableTarget(
            name: "Phone",
            dependencies: [
                "DurableFiles", "HTTPRouting", "JSON", "MobileApp", "Pages", "ServiceKit", asyncHTTPClient, histogram, httpTypes,
                hummingbird,
                logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle,
            ],
            path: "Services/Phone",
            exclude: ["README.md"],
            resources: [.copy("Page/Files")]),

        .executableTarget(
            name: "LoadTester",
            dependencies: [
                "CommandBus", "JSON", "ProductVersion", "Schemas", "SeededRandom", "ServiceKit", argumentParser, asyncHTTPClient,
                histogram, logging, nioCore, nioHTTP1, subprocess, systemPackage, unixSignals,
            ],
            path: "Services/LoadTester"),

        // The shared modules. Dependencies point one way: ServiceKit → CommandBus → Schemas → JSON and Time → nothing.
        .target(name: "JSON", path: "Shared/JSON"),
        .target(name: "CSV", path: "Shared/CSV"),
        .target(name: "JSONSchema", dependencies: ["JSON"], path: "Shared/JSONSchema"),
        .target(name: "Time", path: "Shared/Time"),
        .target(name: "Schemas", dependencies: ["JSON", "Time"], path: "Shared/Schemas", exclude: ["GLOSSARY.md"]),
        .target(name: "FCM", dependencies: ["JSON", "Schemas", "Time"], path: "Shared/FCM"),
        .target(name: "ProductVersion", path: "Shared/ProductVersion"),
        .target(name: "Pages", path: "Shared/Pages", resources: [.copy("Files")]),
        .target(name: "SeededRandom", path: "Shared/SeededRandom"),
        .target(name: "Instruments", dependencies: [coreMetrics], path: "Shared/Instruments"),
        .target(
            name: "HTTPRouting",
            dependencies: [
                "Schemas", httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1,
            ],
            path: "Shared/HTTPRouting"),
        .target(
            name: "CommandBus",
            dependencies: [
                "CSocketGuard", "CZeroMQ", "DedicatedThread", "Instruments", "JSON", "ProductVersion", "Schemas", "Time",
                coreMetrics,
                deque, logging, serviceContext, serviceLifecycle,
            ],
            path: "Shared/CommandBus",
            exclude: ["PROTOCOL.md"]),
        .target(
            name: "ServiceKit",
            dependencies: [
                "CommandBus", "DedicatedThread", "DurableFiles", "HTTPRouting", "Instruments", "JSON", "ProductVersion",
                "Schemas",
                "Time", configuration, coreMetrics, httpTypes, hummingbird, logging, nioCore, nioPosix, serviceContext,
                serviceLifecycle,
                systemPackage, unixSignals,
            ],
            path: "Shared/ServiceKit"),
        .target(name: "CSocketGuard", path: "Shared/CSocketGuard"),
        .target(name: "CMongoLoading", dependencies: ["CMongoC"], path: "Shared/CMongoLoading"),
        .target(name: "DedicatedThread", dependencies: [deque], path: "Shared/DedicatedThread"),
        .target(name: "StoreHealth", dependencies: ["Schemas", "Time"], path: "Shared/StoreHealth"),
        .target(name: "UnreadableDocuments", dependencies: ["Schemas", logging], path: "Shared/UnreadableDocuments"),
        .target(name: "DurableFiles", path: "Shared/DurableFiles"),
        .target(
            name: "MongoDatabase",
            dependencies: [
                "CMongoC", "CMongoLoading", "DedicatedThread", "Instruments", "Schemas", "StoreHealth", "Time",
                "UnreadableDocuments", coreMetrics, deque, logging,
            ],
            path: "Shared/MongoDatabase",
            exclude: ["OPERATING.md"]),
        .target(
            name: "EmbeddedDatabase",
            dependencies: [
                "DurableFiles", "Instruments", "Schemas", "StoreHealth", "Time", "UnreadableDocuments", coreMetrics, deque, grdb,
            ],
            path: "Shared/EmbeddedDatabase"),

        .target(
            name: "Storage",
            dependencies: [
                "DurableFiles", "EmbeddedDatabase", "JSON", "MongoDatabase", "Schemas", "Time", "UnreadableDocuments", crypto,
                grdb,
                logging,
            ],
            path: "Shared/Storage",
            exclude: ["README.md"]),

        .target(
            name: "StoredResources", dependencies: ["CommandBus", "JSON", "MongoDatabase", "Schemas", "ServiceKit", "Storage"],
            path: "Shared/StoredResources"),

        .target(
            name: "AuditTrail",
            dependencies: ["CommandBus", "DedicatedThread", "JSON", "Schemas", "Time", crypto, logging, serviceLifecycle],
            path: "Shared/AuditTrail"),

        // The stores: libraries, so that `msi migrate` and the benchmarks work with the same code as the services.
        .target(
            name: "CubeStorage",
            dependencies: [
                "DedicatedThread", "EmbeddedDatabase", "MongoDatabase", "JSON", "Schemas", "Storage", "UnreadableDocuments",
                crypto,
                grdb, logging,
            ],
            path: "Shared/CubeStorage"),
        .target(
            name: "MessageStorage",
            dependencies: [
                "DurableFiles", "EmbeddedDatabase", "MongoDatabase", "JSON", "Schemas", "Storage", "Time", "UnreadableDocuments",
                crypto, deque, grdb, logging,
            ],
            path: "Shared/MessageStorage"),

        .target(
            name: "RegisteredStores", dependencies: ["CubeStorage", "MessageStorage", "Storage"], path: "Shared/RegisteredStores"),

        // The student's app without a screen. It has the contract, and no server code.
        .target(
            name: "MobileApp", dependencies: ["JSON", "Schemas", "Time", grdb], path: "Shared/MobileApp", exclude: ["README.md"]),

        // Programs that drive the product from outside, and are not tests.
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "AuditTrail", "CommandBus", "JSON", "PowerCut", "Schemas", "SeededRandom", "ServiceKit", "TestSupport", "Time",
                argumentParser, asyncHTTPClient, nioHTTP1,
            ],
            path: "Tests/Chaos",
            exclude: ["executables-of", "run"]),
        .executableTarget(
            name: "Endurance",
            dependencies: [
                "CommandBus", "JSON", "Schemas", "SeededRandom", "TestSupport", argumentParser, nioHTTP1,
            ],
            path: "Tests/Endurance",
            exclude: ["run"]),

        // The tests, a target for each of those above.
        .testTarget(
            name: "AuditTrailTests",
            dependencies: [
                "AuditTrail", "CommandBus", "EmbeddedDatabase", "JSON", "MongoDatabase", "Schemas", "TestSupport", "Time", grdb,
            ],
            path: "Tests/AuditTrailTests"),
        .testTarget(
            name: "BroadcastsTests",
            dependencies: [
                "Broadcasts", "CommandBus", "DurableFiles", "FCM", "JSON", "MongoDatabase", "Schemas", "Storage", "TestSupport",
                "Time",
            ],
            path: "Tests/BroadcastsTests"),
        .testTarget(
            name: "ChaosTests",
            dependencies: [argumentParser, "Chaos", "CommandBus", "JSON", "Schemas", "ServiceKit", "TestSupport", "Time"],
            path: "Tests/ChaosTests"),
        .testTarget(
            name: "CommandBusTests",
            dependencies: [
                "CZeroMQ", "CommandBus", "JSON", "ProductVersion", "Schemas", "SeededRandom", "Time", "TestSupport", logging,
                serviceContext,
                serviceLifecycle,
            ],
            path: "Tests/CommandBusTests"),
        .testTarget(name: "CSVTests", dependencies: ["CSV"], path: "Tests/CSVTests"),
        .testTarget(
            name: "CubeStorageTests",
            dependencies: ["CubeStorage", "EmbeddedDatabase", "MongoDatabase", "JSON", "Schemas", "TestSupport", grdb, logging],
            path: "Tests/CubeStorageTests"),
        .testTarget(
            name: "CubeTests", dependencies: ["CommandBus", "JSON", "Schemas", "Time", "TestSupport"],
            path: "Tests/CubeTests"),
        .testTarget(name: "DedicatedThreadTests", dependencies: ["DedicatedThread"], path: "Tests/DedicatedThreadTests"),
        .testTarget(
            name: "EmbeddedDatabaseTests",
            dependencies: ["EmbeddedDatabase", "Schemas", "TestSupport", grdb],
            path: "Tests/EmbeddedDatabaseTests"),
        .testTarget(
            name: "EnduranceTests", dependencies: ["Endurance", "FCMEmulator", "JSON", "TestSupport"],
            path: "Tests/EnduranceTests"),
        .testTarget(
            name: "FCMEmulatorTests",
            dependencies: [
                "EmbeddedDatabase", "FCMEmulator", "JSON", "Schemas", "SeededRandom", "TestSupport", "Time", asyncHTTPClient,
                grdb,
                jwtKit, logging, nioCore,
                nioHPACK, nioHTTP1,
                nioHTTP2, nioPosix,
                nioSSL,
                serviceLifecycle,
            ],
            path: "Tests/FCMEmulatorTests"),
        .testTarget(
            name: "FCMRelayTests",
            dependencies: [
                "CommandBus", "FCMRelay", "FCM", "JSON", "Schemas", "Time", "ServiceKit", "TestSupport", cryptoExtras,
                httpTypes,
                jwtKit,
                logging,
                nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/FCMRelayTests"),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Broadcasts", "CSV", "CommandBus", "Cube", "CubeStorage", "FCMRelay", "Gateway", "HTTPRouting", "MessageLog",
                "MongoDatabase", "JSON", "JSONSchema", "Pages", "ProductVersion", "People", "Schemas",
                "SeededRandom", "ServiceKit", "Storage", "StoredResources", "Time",
                "TestSupport", asyncHTTPClient, httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1,
                nioSSL, serviceLifecycle, subprocess, systemPackage,
            ],
            path: "Tests/GatewayTests"),
        .testTarget(
            name: "LoadTesterTests", dependencies: ["LoadTester", "TestSupport", "JSON", "Schemas", argumentParser, histogram],
            path: "Tests/LoadTesterTests"),
        .testTarget(
            name: "MessageLogTests",
            dependencies: [
                "CommandBus", "DurableFiles", "MessageLog", "MessageStorage", "MongoDatabase", "JSON", "ProductVersion",
                "Schemas", "ServiceKit", "Time",
                "TestSupport",
                logging,
                serviceLifecycle,
            ],
            path: "Tests/MessageLogTests"),
        .testTarget(
            name: "MessageStorageTests",
            dependencies: [
                "EmbeddedDatabase", "MessageStorage", "MongoDatabase", "JSON", "Schemas", "Time", "TestSupport",
                "UnreadableDocuments",
                grdb,
                logging,
            ],
            path: "Tests/MessageStorageTests",
            exclude: ["Archives"]),
        .testTarget(
            name: "MobileAppTests", dependencies: ["JSON", "MobileApp", "TestSupport", grdb], path: "Tests/MobileAppTests"),
        .testTarget(
            name: "MongoDatabaseTests", dependencies: ["MongoDatabase", "Schemas", "TestSupport"],
            path: "Tests/MongoDatabaseTests"),
        .testTarget(
            name: "CanaryTests", dependencies: ["Canary", "Schemas", "TestSupport", logging, serviceLifecycle],
            path: "Tests/CanaryTests"),
        .testTarget(
            name: "OperatorTests",
            dependencies: [
                "CommandBus", "CubeStorage", "DurableFiles", "MessageStorage", "Operator", "JSON", "Schemas", "ServiceKit",
                "Storage",
                "TestSupport",
                "Time",
                systemPackage,
            ],
            path: "Tests/OperatorTests"),
        .testTarget(
            name: "JSONTests", dependencies: ["FCM", "JSON", "Schemas", "Time", "SeededRandom"], path: "Tests/JSONTests"),
        .testTarget(
            name: "JSONSchemaTests", dependencies: ["JSON", "JSONSchema", "Schemas"], path: "Tests/JSONSchemaTests"),
        .testTarget(
            name: "PeopleTests",
            dependencies: [
                "AuditTrail", "CommandBus", "DurableFiles", "JSON", "People", "Schemas", "ServiceKit", "Storage", "TestSupport",
                "Time", jwtKit, logging,
            ],
            path: "Tests/PeopleTests"),
        .testTarget(name: "PowerCutTests", dependencies: ["PowerCut", "TestSupport"], path: "Tests/PowerCutTests"),
        .testTarget(
            name: "RetryTimeTests",
            dependencies: ["FCMEmulator", "FCMRelay", "MessageLog", "JSON", "Schemas", "Time", httpTypes, hummingbird, nioCore],
            path: "Tests/RetryTimeTests"),
        .testTarget(
            name: "SchemasTests", dependencies: ["FCM", "JSON", "Schemas", "Time"], path: "Tests/SchemasTests"),
        .testTarget(
            name: "ServiceKitTests",
            dependencies: [
                "CommandBus", "DedicatedThread", "DurableFiles", "Instruments", "JSON", "Schemas", "ServiceKit", "TestSupport",
                "Time", coreMetrics, logging,
            ],
            path: "Tests/ServiceKitTests"),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "DurableFiles", "JSON", "MongoDatabase", "Schemas", "Storage", "TestSupport", "Time", grdb,
                logging,
            ],
            path: "Tests/StorageTests"),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "CommandBus", "FCMEmulator", "JSON", "People", "PowerCut", "ProductVersion", "Schemas", "SeededRandom",
                "ServiceKit",
                "TestSupport",
                asyncHTTPClient, nioCore,
                nioHTTP1,
            ],
            path: "Tests/System"),
        .target(name: "PowerCut", dependencies: ["SeededRandom"], path: "Tests/PowerCut"),
        .target(name: "HostsFile", path: "Tests/HostsFile"),
        .target(name: "WriteRecorder", path: "Tests/WriteRecorder"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CZeroMQ", "CommandBus", "JSON", "Schemas", "SeededRandom", "ServiceKit", asyncHTTPClient, crypto, cryptoExtras,
                httpTypes, jwtKit, logging,
                nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP2, nioPosix, nioSSL, serviceLifecycle,
                subprocess,
                swiftASN1, systemPackage, unixSignals, x509,
            ],
            path: "Tests/TestSupport"),

        .testTarget(
            name: "StoreHealthTests", dependencies: ["Schemas", "StoreHealth", "TestSupport"], path: "Tests/StoreHealthTests"),
        .testTarget(name: "TimeTests", dependencies: ["Time"], path: "Tests/TimeTests"),

        // The benchmarks: Tests/Benchmarks/run.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CommandBus", "DedicatedThread", "MessageStorage", "MongoDatabase", "FCM", "JSON", "Schemas", "ServiceKit",
                "TestSupport", "Time",
                argumentParser, asyncHTTPClient, histogram, httpTypes, hummingbird, logging, nioCore, nioHTTP1, subprocess,
                systemPackage,
            ],
            path: "Tests/Benchmarks", exclude: ["Peers", "run"]),

        // The C libraries, as Debian ships them: a module map and a shim header each, no logic.
        .systemLibrary(name: "CZeroMQ", path: "Shared/CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .systemLibrary(name: "CTimex", path: "Shared/CTimex"),
        .systemLibrary(name: "CZlib", path: "Shared/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Shared/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMongoC", path: "Shared/CMongoC", pkgConfig: "libmongoc-1.0", providers: [.apt(["libmongoc-dev"])]),
    ]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = swiftSettings
}

/// In these targets accesses to properties are so frequent that the exclusivity check is expensive. Release builds omit it there;
/// debug builds have it.
let busy: Set = ["CommandBus"]
for target in package.targets where busy.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
}

extension Target {
    /// Whether it is a test, or a program that drives the product from outside.
    var isForTests: Bool { path?.hasPrefix("Tests/") ?? false }
}

/// The tests are not optimised in release builds either: their code is waiting for others, and building it would take twice as long. The
/// benchmarks are, with what they drive the product by.
for target in package.targets where target.isForTests && !["Benchmarks", "TestSupport"].contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}

/// `deploy/build` sets this variable for those who only run the product.
if Context.environment["MSI_PRODUCT_ONLY"] != nil {
    package.targets.removeAll(where: \.isForTests)
    package.products.removeAll { ["HostsFile", "WriteRecorder"].contains($0.name) }
}
