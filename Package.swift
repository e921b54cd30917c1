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
        .executable(name: "msi-identity-emulator", targets: ["IdentityEmulator"]),
        .executable(name: "msi-load", targets: ["LoadTester"]),
        .executable(name: "msi-message-log", targets: ["MessageLog"]),
        .executable(name: "msi-people", targets: ["People"]),
        .executable(name: "msi-phone", targets: ["Phone"]),
        .executable(name: "msi-study", targets: ["Study"]),
        .executable(name: "msi-webpush", targets: ["WebPush"]),
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
        // Not the trait JSON: its JSONSerialization would link all of Foundation, with ICU.
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["CommandLineArguments"]),
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
                "App", "Base", "Bus", "CZlib", "DeviceTokens", "FCM", "HTTPRouting", "Instruments", "Pages", "Schemas",
                "ServiceKit", coreMetrics, crypto, deque, heap, httpTypes, hummingbird, hummingbirdCore, logging, nioCore,
                nioExtras, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1, nioPosix, nioSSL, serviceContext, serviceLifecycle,
            ],
            path: "Services/Gateway",
            exclude: ["API.md", "App/ACCESSIBILITY.md", "App/README.md", "App/app.png", "Portal/README.md", "Portal/send.png"],
            // SwiftPM copies folders side by side, so they need different names.
            resources: [.copy("Portal/Files"), .copy("App/AppFiles")]),
        .executableTarget(
            name: "Cube",
            dependencies: ["AuditTrail", "Base", "Bus", "Schemas", "ServiceKit", "Store", logging, serviceLifecycle],
            path: "Services/Cube"),
        .executableTarget(
            name: "Broadcasts",
            dependencies: ["AuditTrail", "Base", "Bus", "FCM", "Schemas", "ServiceKit", "Store", logging, serviceLifecycle],
            path: "Services/Broadcasts",
            exclude: ["API.md"]),
        .executableTarget(
            name: "MessageLog",
            dependencies: [
                "Archive", "AuditTrail", "Base", "Bus", "FCM", "Instruments", "Schemas", "ServiceKit", "Store", coreMetrics,
                deque, logging, serviceContext, serviceLifecycle,
            ],
            path: "Services/MessageLog",
            exclude: ["API.md"]),
        .executableTarget(
            name: "People",
            dependencies: [
                "AuditTrail", "Base", "Bus", "DeviceTokens", "Instruments", "PersonPushes", "Schemas", "ServiceKit", "Store",
                asyncHTTPClient, coreMetrics, crypto, cryptoExtras, jwtKit, logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Services/People",
            exclude: ["API.md", "AUDIT.md", "STUDENTS.md"]),
        .executableTarget(
            name: "Study",
            dependencies: [
                "AuditTrail", "Base", "Bus", "Instruments", "PersonPushes", "Schemas", "ServiceKit", "Store", coreMetrics,
                crypto, logging, serviceLifecycle,
            ],
            path: "Services/Study",
            exclude: ["API.md", "DESIGN.md", "GUIDES.md", "SESSIONS.md", "guides"]),
        .executableTarget(
            name: "FCMRelay",
            dependencies: [
                "Base", "Bus", "FCM", "HTTPTransport", "Instruments", "Schemas", "ServiceKit", coreMetrics, deque, jwtKit,
                logging, serviceLifecycle,
            ],
            path: "Services/FCMRelay",
            exclude: ["API.md"]),
        .executableTarget(
            name: "FCMEmulator",
            dependencies: [
                "Base", "FCM", "HTTPRouting", "Schemas", "ServiceKit", "Store", crypto, cryptoExtras, deque, grdb, httpTypes,
                hummingbird, hummingbirdCore, jwtKit, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioHTTPTypes,
                nioHTTPTypesHTTP2, nioSSL, serviceLifecycle, swiftASN1, x509,
            ],
            path: "Services/FCMEmulator",
            exclude: ["API.md"]),
        .executableTarget(
            name: "IdentityEmulator",
            dependencies: [
                "Base", "HTTPRouting", "Schemas", "ServiceKit", crypto, cryptoExtras, httpTypes, hummingbird, logging, nioCore,
                serviceLifecycle,
            ],
            path: "Services/IdentityEmulator",
            exclude: ["API.md"]),
        .executableTarget(
            name: "WebPush",
            dependencies: [
                "Base", "Bus", "HTTPTransport", "Instruments", "Schemas", "ServiceKit", "Store", "WebPushKeys", "WebPushStore",
                coreMetrics, crypto, deque, logging, serviceLifecycle,
            ],
            path: "Services/WebPush",
            exclude: ["API.md"]),
        .executableTarget(
            name: "Canary",
            dependencies: [
                "Base", "HTTPRouting", "Instruments", "Schemas", "ServiceKit", "WebPushKeys", asyncHTTPClient, coreMetrics,
                httpTypes, hummingbird, logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Services/Canary",
            exclude: ["README.md"]),
        .executableTarget(
            name: "Operator",
            dependencies: [
                "Archive", "AuditTrail", "Base", "Bus", "CTimex", "FCM", "HTTPRouting", "Schemas", "ServiceKit", "Store",
                argumentParser, asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle, subprocess,
                systemPackage, unixSignals,
            ],
            path: "Services/Operator"),

        .executableTarget(
            name: "Phone",
            dependencies: [
                "App", "Base", "HTTPRouting", "MobileApp", "Pages", "ServiceKit", asyncHTTPClient, crypto, histogram, httpTypes,
                hummingbird, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle,
            ],
            path: "Services/Phone",
            exclude: ["README.md"],
            resources: [.copy("Page/Files")]),

        .executableTarget(
            name: "LoadTester",
            dependencies: [
                "Base", "Bus", "Schemas", "ServiceKit", argumentParser, asyncHTTPClient, crypto, histogram, logging, nioCore,
                nioHTTP1, subprocess, systemPackage, unixSignals,
            ],
            path: "Services/LoadTester"),

        // The shared modules. Dependencies point one way: ServiceKit → Bus → Schemas → Base → nothing.
        .target(name: "Base", dependencies: [deque], path: "Shared/Base"),
        .target(name: "Schemas", dependencies: ["Base"], path: "Shared/Schemas", exclude: ["GLOSSARY.md"]),
        .target(name: "FCM", dependencies: ["Base", "Schemas"], path: "Shared/FCM"),
        .target(name: "Pages", dependencies: ["Base"], path: "Shared/Pages", resources: [.copy("Files")]),
        .target(name: "App", dependencies: ["Pages"], path: "Shared/App", resources: [.copy("Files")]),
        .target(name: "Instruments", dependencies: [coreMetrics], path: "Shared/Instruments"),
        .target(
            name: "HTTPRouting",
            dependencies: [
                "Schemas", httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1,
            ],
            path: "Shared/HTTPRouting"),
        .target(
            name: "HTTPTransport", dependencies: ["Base", "CCurl", "HTTPRouting", "Schemas", "ServiceKit", deque],
            path: "Shared/HTTPTransport"),
        .target(
            name: "Bus",
            dependencies: [
                "Base", "CZeroMQ", "Instruments", "Schemas", coreMetrics, deque, logging, serviceContext, serviceLifecycle,
            ],
            path: "Shared/Bus",
            exclude: ["PROTOCOL.md"]),
        .target(
            name: "ServiceKit",
            dependencies: [
                "Base", "Bus", "HTTPRouting", "Instruments", "Schemas", configuration, coreMetrics, httpTypes, hummingbird,
                logging, nioCore, nioPosix, serviceContext, serviceLifecycle, systemPackage, unixSignals,
            ],
            path: "Shared/ServiceKit"),
        .target(name: "CMongoLoading", dependencies: ["CMongoC"], path: "Shared/CMongoLoading"),
        .target(
            name: "Store",
            dependencies: [
                "Base", "CMongoC", "CMongoLoading", "Instruments", "Schemas", coreMetrics, crypto, deque, grdb, logging,
            ],
            path: "Shared/Store",
            exclude: ["README.md"]),

        .target(
            name: "AuditTrail",
            dependencies: ["Base", "Bus", "Schemas", "ServiceKit", crypto, logging, serviceLifecycle],
            path: "Shared/AuditTrail"),

        // The stores: libraries, so that `msi migrate` and the benchmarks work with the same code as the services.
        .target(
            name: "Archive",
            dependencies: ["Base", "Schemas", "Store", crypto, deque, grdb, logging],
            path: "Shared/Archive"),
        .target(
            name: "WebPushStore",
            dependencies: ["Base", "Schemas", "Store", crypto],
            path: "Shared/WebPushStore"),

        // The tokens of students' devices: the people service signs them, and gateways read them.
        .target(name: "DeviceTokens", dependencies: ["Base", "Schemas", crypto], path: "Shared/DeviceTokens"),

        // The queue of pushes to persons in the stores of the services that send them, and its way to the message log.
        .target(
            name: "PersonPushes",
            dependencies: ["Base", "Bus", "Schemas", "ServiceKit", "Store", logging, serviceLifecycle],
            path: "Shared/PersonPushes"),

        // The encryption of pushes, and its inverse for the programs that are subscribed: the canary, and those of the tests.
        .target(name: "WebPushKeys", dependencies: ["Base", "Schemas", crypto], path: "Shared/WebPushKeys"),

        // The student's app without a screen. It has the contract, and no server code.
        .target(name: "MobileApp", dependencies: ["Base", "Schemas", grdb], path: "Shared/MobileApp", exclude: ["README.md"]),

        // Programs that drive the product from outside, and are not tests.
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "AuditTrail", "Base", "Bus", "PowerCut", "Schemas", "ServiceKit", "TestSupport", argumentParser,
                asyncHTTPClient, nioHTTP1,
            ],
            path: "Tests/Chaos",
            exclude: ["executables-of", "run"]),
        .executableTarget(
            name: "Endurance",
            dependencies: ["Base", "Bus", "Schemas", "TestSupport", argumentParser, nioHTTP1],
            path: "Tests/Endurance",
            exclude: ["run"]),

        // The tests, a target for each of those above.
        .testTarget(
            name: "AuditTrailTests",
            dependencies: ["AuditTrail", "Base", "Bus", "Schemas", "Store", "TestSupport", grdb],
            path: "Tests/AuditTrailTests"),
        .testTarget(
            name: "BroadcastsTests",
            dependencies: ["Base", "Broadcasts", "Bus", "FCM", "Schemas", "Store", "TestSupport"],
            path: "Tests/BroadcastsTests"),
        .testTarget(
            name: "ChaosTests",
            dependencies: ["Base", "Bus", "Chaos", "Schemas", "ServiceKit", "TestSupport", argumentParser],
            path: "Tests/ChaosTests"),
        .testTarget(
            name: "BusTests",
            dependencies: ["Base", "Bus", "CZeroMQ", "Schemas", "TestSupport", logging, serviceContext, serviceLifecycle],
            path: "Tests/BusTests"),
        .testTarget(name: "BaseTests", dependencies: ["Base", "Schemas"], path: "Tests/BaseTests"),
        .testTarget(
            name: "CubeTests",
            dependencies: ["Base", "Bus", "Cube", "Schemas", "Store", "TestSupport", grdb, logging],
            path: "Tests/CubeTests"),
        .testTarget(
            name: "StoreTests",
            dependencies: ["Base", "Schemas", "Store", "TestSupport", grdb, logging],
            path: "Tests/StoreTests"),
        .testTarget(
            name: "EnduranceTests",
            dependencies: ["Base", "Endurance", "FCMEmulator", "TestSupport"],
            path: "Tests/EnduranceTests"),
        .testTarget(
            name: "FCMEmulatorTests",
            dependencies: [
                "Base", "FCMEmulator", "Schemas", "Store", "TestSupport", asyncHTTPClient, grdb, jwtKit, logging, nioCore,
                nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL, serviceLifecycle,
            ],
            path: "Tests/FCMEmulatorTests"),
        .testTarget(
            name: "FCMRelayTests",
            dependencies: [
                "Base", "Bus", "FCM", "FCMRelay", "HTTPTransport", "Schemas", "ServiceKit", "TestSupport", cryptoExtras,
                httpTypes, jwtKit, logging, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/FCMRelayTests"),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Base", "Broadcasts", "Bus", "Cube", "DeviceTokens", "FCMRelay", "Gateway", "HTTPRouting", "MessageLog",
                "Pages", "People", "Schemas", "ServiceKit", "Store", "Study", "TestSupport", "WebPush", asyncHTTPClient, crypto,
                httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle, subprocess,
                systemPackage,
            ],
            path: "Tests/GatewayTests"),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["HTTPTransport", "TestSupport", httpTypes],
            path: "Tests/HTTPTransportTests"),
        .testTarget(
            name: "IdentityEmulatorTests",
            dependencies: [
                "Base", "IdentityEmulator", "Schemas", "ServiceKit", "TestSupport", crypto, jwtKit, nioCore, nioHTTP1,
            ],
            path: "Tests/IdentityEmulatorTests"),
        .testTarget(
            name: "LoadTesterTests",
            dependencies: ["Base", "LoadTester", "Schemas", "TestSupport", argumentParser, histogram],
            path: "Tests/LoadTesterTests"),
        .testTarget(
            name: "MessageLogTests",
            dependencies: [
                "Archive", "Base", "Bus", "MessageLog", "Schemas", "ServiceKit", "Store", "TestSupport", logging,
                serviceLifecycle,
            ],
            path: "Tests/MessageLogTests"),
        .testTarget(
            name: "ArchiveTests",
            dependencies: ["Archive", "Base", "Schemas", "Store", "TestSupport", grdb, logging],
            path: "Tests/ArchiveTests"),
        .testTarget(
            name: "MobileAppTests",
            dependencies: ["Base", "MobileApp", "Schemas", "TestSupport", crypto, grdb],
            path: "Tests/MobileAppTests"),
        .testTarget(
            name: "CanaryTests",
            dependencies: [
                "Base", "Canary", "Schemas", "ServiceKit", "TestSupport", "WebPushKeys", logging, serviceLifecycle,
            ],
            path: "Tests/CanaryTests"),
        .testTarget(
            name: "OperatorTests",
            dependencies: [
                "Archive", "AuditTrail", "Base", "Bus", "HTTPRouting", "Operator", "Schemas", "ServiceKit", "Store",
                "TestSupport", argumentParser, systemPackage,
            ],
            path: "Tests/OperatorTests"),
        .testTarget(
            name: "PeopleTests",
            dependencies: [
                "AuditTrail", "Base", "Bus", "DeviceTokens", "People", "PersonPushes", "Schemas", "ServiceKit", "Store",
                "TestSupport", crypto, jwtKit, logging,
            ],
            path: "Tests/PeopleTests"),
        .testTarget(
            name: "PersonPushesTests",
            dependencies: ["Base", "Bus", "PersonPushes", "Schemas", "Store", "TestSupport"],
            path: "Tests/PersonPushesTests"),
        .testTarget(name: "PowerCutTests", dependencies: ["PowerCut", "TestSupport"], path: "Tests/PowerCutTests"),
        .testTarget(
            name: "RetryTimeTests",
            dependencies: [
                "Base", "FCMEmulator", "FCMRelay", "HTTPTransport", "MessageLog", "Schemas", httpTypes, hummingbird, nioCore,
            ],
            path: "Tests/RetryTimeTests"),
        .testTarget(name: "SchemasTests", dependencies: ["Base", "FCM", "Schemas"], path: "Tests/SchemasTests"),
        .testTarget(
            name: "ServiceKitTests",
            dependencies: [
                "Base", "Bus", "Instruments", "Schemas", "ServiceKit", "TestSupport", coreMetrics, logging, serviceLifecycle,
            ],
            path: "Tests/ServiceKitTests"),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "Base", "Bus", "ExampleApp", "FCMEmulator", "HTTPRouting", "MobileApp", "People", "PowerCut", "Schemas",
                "ServiceKit", "TestSupport", asyncHTTPClient, nioCore, nioHTTP1,
            ],
            path: "Tests/System"),
        .testTarget(
            name: "StudyTests",
            dependencies: ["Base", "Bus", "PersonPushes", "Schemas", "ServiceKit", "Store", "Study", "TestSupport"],
            path: "Tests/StudyTests"),
        .testTarget(
            name: "WebPushTests",
            dependencies: [
                "Base", "Bus", "HTTPTransport", "Schemas", "Store", "TestSupport", "WebPush", "WebPushKeys", "WebPushStore",
                crypto, httpTypes, logging, serviceLifecycle,
            ],
            path: "Tests/WebPushTests"),
        .target(
            name: "ExampleApp", dependencies: ["MobileApp", asyncHTTPClient, nioCore, nioHTTP1], path: "Tests/Examples/App"),
        .target(name: "PowerCut", dependencies: ["Base"], path: "Tests/PowerCut"),
        .target(name: "HostsFile", path: "Tests/HostsFile"),
        .target(name: "WriteRecorder", path: "Tests/WriteRecorder"),
        .target(
            name: "TestSupport",
            dependencies: [
                "Base", "Bus", "CZeroMQ", "HTTPRouting", "Schemas", "ServiceKit", "WebPushKeys", asyncHTTPClient, crypto,
                cryptoExtras, httpTypes, jwtKit, logging, nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes, nioHTTPTypesHTTP2, nioPosix,
                nioSSL, serviceLifecycle, subprocess, swiftASN1, systemPackage, unixSignals, x509,
            ],
            path: "Tests/TestSupport"),

        // The benchmarks: Tests/Benchmarks/run.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Archive", "Base", "Bus", "DeviceTokens", "FCM", "Schemas", "ServiceKit", "Store", "TestSupport", "WebPushKeys",
                "WebPushStore", argumentParser, asyncHTTPClient, crypto, httpTypes, hummingbird, logging, nioCore, nioHTTP1,
                nioPosix, subprocess, systemPackage,
            ],
            path: "Tests/Benchmarks",
            exclude: ["Peers", "README.md", "RESULTS.md", "results", "run"]),

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

/// In these targets accesses to properties are so frequent that the exclusivity check is expensive: with it, a typed round trip over the
/// bus takes 9.4 µs of processor time instead of 8.3 (`Tests/Benchmarks/run bus`). Release builds omit it there; debug builds have it.
let busy: Set = ["Bus"]
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

/// Programs that wait for others most of the time are not optimised either. The stores, which migrations and exports wait for, are.
let waiting: Set = ["Canary", "IdentityEmulator", "Operator"]
for target in package.targets where waiting.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}

/// `deploy/build` sets this variable for those who only run the product.
if Context.environment["MSI_PRODUCT_ONLY"] != nil {
    package.targets.removeAll(where: \.isForTests)
    package.products.removeAll { ["HostsFile", "WriteRecorder"].contains($0.name) }
}
