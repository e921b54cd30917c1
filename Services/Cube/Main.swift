import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.cube, wire: ServicePlan.cube)
    }
}
