import CommandBus
import ServiceKit

extension SettingsInEffectCheck {
    /// Clients that look for a service elsewhere than where it listens, although it runs on this machine.
    func endpoints() async -> [Finding] {
        var values: [(process: RunningProcess, settings: SettingValues)] = []
        for process in processes { values.append((process, await process.settings())) }
        var (texts, clients, advice): ([String], [String: [String]], [String: String]) = ([], [:], [:])
        for (process, own) in values {
            for use in process.service.uses {
                let setting = Setting<[String]>.endpoints(of: use.service)
                let listeners = values.filter { $0.process.service == use.service }.compactMap { listener in
                    (try? listener.settings.value(.listen(use.service))).map { (id: listener.process.id, endpoint: $0) }
                }
                guard use.sockets.contains(.commands), let first = listeners.first, let used = try? own.value(setting),
                    let client = try? ClientEndpoints(used), used.allSatisfy({ $0.hasPrefix("ipc://") }),
                    !listeners.contains(where: { client.include($0.endpoint) })
                else { continue }
                let text =
                    "\(use.service.executable) (process \(first.id)) listens at \(first.endpoint), and is looked for at "
                    + used.joined(separator: ", ")
                if clients[text] == nil { texts.append(text) }
                clients[text, default: []].append(process.unit ?? process.service.executable)
                advice[text] =
                    "let \(setting.declaration.name) of the clients and "
                    + "\(Setting<String>.listen(use.service).declaration.name) of \(use.service.executable) agree, and restart them"
            }
        }
        return texts.map {
            .failure(.sockets, "\($0) by \((clients[$0] ?? []).joined(separator: ", "))", advice[$0] ?? "")
        }
    }
}
