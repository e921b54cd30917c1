import Synchronization

/// The value of a setting that changes when the settings are read again.
package final class LiveSetting<Value: Sendable>: Sendable {
    private let current: Mutex<Value>

    /// - Parameter value: The value until it changes.
    package init(_ value: Value) {
        current = Mutex(value)
    }

    package internal(set) var value: Value {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// The settings whose new values a process can take over while it runs.
final class LiveSettings: Sendable {
    /// Reads a setting's new value, and returns how to take it over.
    typealias Reading = @Sendable (SettingValues) throws -> @Sendable () -> Void

    private let readings = Mutex<[SettingDeclaration: [Reading]]>([:])

    /// - Parameter read: Called for each reload that changes the setting.
    func add(_ declaration: SettingDeclaration, read: @escaping Reading) {
        precondition(declaration.isLive, "\(declaration.name) is not declared as one that changes while a service runs")
        readings.withLock { $0[declaration, default: []].append(read) }
    }

    /// How to read a setting's new value; empty if this process keeps the value of its start.
    func readings(of declaration: SettingDeclaration) -> [Reading] {
        readings.withLock { $0[declaration] ?? [] }
    }
}

extension SettingValues {
    /// Reads one setting or its default, now and at each reload.
    ///
    /// - Throws: As ``value(_:)``.
    package func live<Value>(_ setting: Setting<Value>) throws -> LiveSetting<Value> {
        let live = LiveSetting(try value(setting))
        liveSettings.add(setting.declaration) { values in
            let new = try values.value(setting)
            return { live.value = new }
        }
        return live
    }

    /// Reads one setting, which may have no value, now and at each reload.
    ///
    /// - Throws: As ``optional(_:)``.
    package func liveOptional<Value>(_ setting: Setting<Value>) throws -> LiveSetting<Value?> {
        let live = LiveSetting(try optional(setting))
        liveSettings.add(setting.declaration) { values in
            let new = try values.optional(setting)
            return { live.value = new }
        }
        return live
    }
}
